import BluetoothBase

/// The distribution of keys on the encrypted link: first those of the responder, then those of the initiator (Core 5.4,
/// Vol 3, Part H, 3.6.1).
struct KeyDistributionPhase: Hashable, Sendable {
    private let agreement: Agreement
    private var result: PairingResult
    /// The keys that the peer still has to send, in order.
    private var expected: [ExpectedKey]
    /// The key from the first PDU of a pair whose second PDU has not arrived yet: a long-term key before its EDIV and
    /// Rand, or an IRK before the identity address.
    private var firstHalf: UInt128 = 0

    enum ExpectedKey {
        case longTermKey, identification, resolvingKey, address, signatureKey
    }

    static func begin(_ agreement: Agreement, key: UInt128, _ resources: inout SecurityResources) -> PairingReaction {
        var result = PairingResult(strength: agreement.strength, isBonded: agreement.isBonded)
        if agreement.strength.usesSecureConnections {
            result.centralKey = LongTermKey(key: key)
            result.peripheralKey = result.centralKey
        }
        var phase = KeyDistributionPhase(agreement: agreement, result: result, expected: agreement.expectedKeys)
        let sent = agreement.role == .peripheral ? phase.distribute(&resources) : []
        let next = phase.advanced(&resources)
        return PairingReaction(next.state, sent + next.effects)
    }

    private init(agreement: Agreement, result: PairingResult, expected: [ExpectedKey]) {
        self.agreement = agreement
        self.result = result
        self.expected = expected
    }

    func receive(
        _ pdu: SecurityManagerPDU, _ resources: inout SecurityResources
    ) throws(PairingFailure) -> PairingReaction {
        var phase = self
        switch (expected.first, pdu) {
        case (.longTermKey, .encryptionInformation(let key)):
            phase.firstHalf = agreement.masked(key)
        case (.identification, .centralIdentification(let diversifier, let random)):
            phase.result.centralKey = LongTermKey(key: firstHalf, encryptedDiversifier: diversifier, random: random)
        case (.resolvingKey, .identityInformation(let key)):
            phase.firstHalf = key
        case (.address, .identityAddressInformation(let address)):
            guard address.kind == .public || address.kind == .random, address.isIdentity else {
                throw .invalidParameters
            }
            // A key of zero means that the device has no private addresses (3.6.4). Then nothing proves that the
            // address belongs to it, unless it is the address of the link.
            if firstHalf != 0 || PeerID(address) == PeerID(agreement.remoteAddress) {
                phase.result.peerIdentity = DeviceIdentity(address: address, resolvingKey: firstHalf)
            }
        case (.signatureKey, .signingInformation(let key)):
            phase.result.peerSignatureKey = key
        // A second resolving key could replace the one that an address was checked with.
        case (_, .identityInformation)
        where agreement.peerKeys.contains(.identity) && !expected.contains(.resolvingKey):
            throw .invalidParameters
        case (_, _):
            throw .unspecifiedReason
        }
        phase.expected.removeFirst()
        return phase.advanced(&resources)
    }

    /// When the peer has sent everything, an initiator sends its own keys, and pairing is complete.
    private mutating func advanced(_ resources: inout SecurityResources) -> PairingReaction {
        guard expected.isEmpty else { return PairingReaction(.distribution(self)) }
        let sent = agreement.role == .central ? distribute(&resources) : []
        return PairingReaction(.idle, sent + [.ended(.success(result))])
    }

    private mutating func distribute(_ resources: inout SecurityResources) -> [PairingEffect] {
        let keys = agreement.localKeys
        var effects: [PairingEffect] = []
        if keys.contains(.encryption), !agreement.strength.usesSecureConnections {
            var key = LongTermKey(key: agreement.masked(resources.randomValue()))
            key.encryptedDiversifier = UInt16(truncatingIfNeeded: resources.entropy.next())
            // Rand and EDIV 0 stand for keys that are not distributed.
            key.random = max(1, resources.entropy.next())
            result.peripheralKey = key
            effects.append(.send(.encryptionInformation(longTermKey: key.key)))
            effects.append(
                .send(.centralIdentification(encryptedDiversifier: key.encryptedDiversifier, random: key.random)))
        }
        if keys.contains(.identity) {
            effects.append(.send(.identityInformation(resolvingKey: resources.identity.resolvingKey)))
            let address = resources.identity.address
            effects.append(
                .send(
                    .identityAddressInformation(
                        DeviceAddress(address.value, kind: address.typeBit == 0 ? .public : .random))))
        }
        if keys.contains(.signing) {
            let key = resources.randomValue()
            result.localSignatureKey = key
            effects.append(.send(.signingInformation(signatureKey: key)))
        }
        return effects
    }
}

extension Agreement {
    /// The keys that the peer distributes, in order. With LE Secure Connections, no long-term key is distributed.
    var expectedKeys: [KeyDistributionPhase.ExpectedKey] {
        var keys: [KeyDistributionPhase.ExpectedKey] = []
        if peerKeys.contains(.encryption), !strength.usesSecureConnections { keys += [.longTermKey, .identification] }
        if peerKeys.contains(.identity) { keys += [.resolvingKey, .address] }
        if peerKeys.contains(.signing) { keys.append(.signatureKey) }
        return keys
    }
}
