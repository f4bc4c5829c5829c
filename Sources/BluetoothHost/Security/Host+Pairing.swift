import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP
import BluetoothSMP

/// The Security Manager of each link: what comes over its channel, what the application wants, and what follows.
extension Host {
    // MARK: Calls

    /// Pairs with the peer of a link (Core 5.4, Vol 3, Part H). As a central the host sends Pairing Request, as a
    /// peripheral Security Request. `HostEvent.Security.paired` or `.pairingFailed` will follow.
    ///
    /// Keys that exist are never replaced by weaker ones: to allow that, remove the bond first.
    public mutating func pair(
        _ link: LinkIdentifier, _ parameters: PairingParameters, at now: Instant
    ) throws(HostError) {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        guard var resources = security else { throw .unsupported }
        guard !links.at[slot].protection.pairing.isUnderWay else { throw .busy }
        // What became of the pairing before this one comes first, and its keys are what this one must not weaken.
        confirmPairing(slot, at: now)
        let effects = links.at[slot].protection.pairing.begin(
            protectingBond(parameters, slot), &resources, at: now)
        security = resources
        perform(effects, slot, at: now)
    }

    /// Makes the data of this host that a peer is to get by another way than Bluetooth, for LE Secure Connections (Vol 3, Part H,
    /// 2.3.5.6.4). The next pairing with a peer that has it uses it up; data made earlier is void.
    public mutating func makeOutOfBandData() throws(HostError) -> OutOfBandData {
        guard var resources = security, let data = resources.makeOutOfBandData() else { throw .unsupported }
        security = resources
        return data
    }

    /// Answers `HostEvent.Security.asked`.
    public mutating func answerPairing(
        _ link: LinkIdentifier, _ answer: PairingAnswer, at now: Instant
    ) throws(HostError) {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        guard var resources = security else { throw .unsupported }
        var answer = answer
        if case .accept(let parameters) = answer { answer = .accept(protectingBond(parameters, slot)) }
        let effects = links.at[slot].protection.pairing.answer(answer, &resources, at: now)
        security = resources
        perform(effects, slot, at: now)
    }

    /// Tells the peer what the person does while entering the passkey.
    public mutating func pressKey(_ key: KeypressNotification, on link: LinkIdentifier, at now: Instant) {
        guard let slot = links.slot(of: link) else { return }
        perform(links.at[slot].protection.pairing.pressKey(key), slot, at: now)
    }

    /// Calls a pairing off. `HostEvent.Security.pairingFailed` follows.
    public mutating func cancelPairing(_ link: LinkIdentifier, at now: Instant) {
        guard let slot = links.slot(of: link) else { return }
        perform(links.at[slot].protection.pairing.cancel(), slot, at: now)
    }

    /// A new pairing must not weaken what a bond protects.
    private func protectingBond(_ parameters: PairingParameters, _ slot: Int) -> PairingParameters {
        var parameters = parameters
        parameters.minimumStrength = bond(of: slot)?.strength ?? parameters.minimumStrength
        return parameters
    }

    /// Answers `HostEvent.Security.requested`: this host will not pair (Vol 3, Part H, 2.4.6).
    public mutating func refuseSecurityRequest(of link: LinkIdentifier) {
        guard let slot = links.slot(of: link), !links.at[slot].protection.pairing.isUnderWay else { return }
        send(.pairingFailed(.pairingNotSupported), slot)
    }

    /// Whether a pairing is under way on a link, or its encryption is starting.
    public func isSecurityPending(on link: LinkIdentifier) -> Bool {
        guard let slot = links.slot(of: link) else { return false }
        let protection = links.at[slot].protection
        return protection.pairing.isUnderWay || protection.expectedKey != nil || protection.unconfirmed != nil
    }

    /// The strength of the keys of the bond with the peer of a link; nil if there is none.
    public func bondStrength(of link: LinkIdentifier) -> KeyStrength? {
        links.slot(of: link).flatMap { bond(of: $0) }?.strength
    }

    // MARK: The peer's side

    /// A PDU of the Security Manager Protocol.
    mutating func receiveSecurity(_ payload: Span<UInt8>, _ slot: Int, at now: Instant) {
        guard payload.count > 0 else { return }
        guard var resources = security else { return refusePairing(payload, slot, at: now) }
        let effects = links.at[slot].protection.pairing.receive(payload, &resources, at: now)
        security = resources
        perform(effects, slot, at: now)
    }

    /// Refuses what begins a pairing, on a host that does not pair; the rest needs no answer (Vol 3, Part H, 3.5.5).
    private mutating func refusePairing(_ payload: Span<UInt8>, _ slot: Int, at now: Instant) {
        let pairingRequest: UInt8 = 0x01, securityRequest: UInt8 = 0x0B
        guard payload[0] == pairingRequest || payload[0] == securityRequest else { return }
        send(.pairingFailed(.pairingNotSupported), slot)
        handle(.pairingRefused, of: slot, at: now)
    }

    private mutating func send(_ pdu: SecurityManagerPDU, _ slot: Int) {
        openFrame()
        pdu.encode(into: &outbox.writer)
        closeFrame(slot, .securityManager)
    }

    // MARK: What happens to a link

    mutating func firePairing(_ slot: Int, at now: Instant) {
        guard let deadline = links.at[slot].protection.nextDeadline, deadline <= now else { return }
        perform(links.at[slot].protection.pairing.fire(at: now), slot, at: now)
        if let until = links.at[slot].protection.unconfirmed?.until, until <= now { confirmPairing(slot, at: now) }
    }

    /// The link is gone, and has been taken out of the table.
    mutating func endPairing(of link: inout Link) {
        if let (outcome, _) = link.protection.unconfirmed {
            link.protection.unconfirmed = nil
            unconfirmedPairings -= 1
            let error = if case .failure(let error) = outcome { error } else { PairingError.disconnected }
            events.append(.security(link.identifier, .pairingFailed(error)))
        }
        for effect in link.protection.pairing.linkEnded() {
            guard case .ended(.failure(let error)) = effect else { continue }
            events.append(.security(link.identifier, .pairingFailed(error)))
        }
    }

    /// The controller is up, and with it the identity address that peers get.
    mutating func ownAddressIsKnown(_ address: DeviceAddress) { security?.identity.address = address }

    // MARK: Effects

    mutating func perform(_ effects: [PairingEffect], _ slot: Int, at now: Instant) {
        let link = links.at[slot].identifier
        // A peer that has sent its keys has ours already.
        let isLastToSend = effects.contains { if case .send = $0 { true } else { false } }
        for effect in effects {
            switch effect {
            case .send(let pdu): send(pdu, slot)
            case .encrypt(let key): startEncryption(LongTermKey(key: key), .pairing, slot, at: now)
            case .ask(let question):
                // What became of the pairing before this one comes first.
                confirmPairing(slot, at: now)
                events.append(.security(link, .asked(question)))
            case .show(let display):
                confirmPairing(slot, at: now)
                events.append(.security(link, .shown(display)))
            case .securityRequested(let requirements): securityRequested(requirements, slot, at: now)
            // The bond gave what this host had asked for.
            case .ended(.failure(.encryptedWithKnownKey)): break
            case .ended(let outcome) where isLastToSend: pairingEnded(outcome, slot, at: now)
            case .ended(let outcome):
                confirmPairing(slot, at: now)
                confirmed(outcome, slot, at: now)
            }
        }
    }

    /// A peripheral wants the link encrypted. A bond that is strong enough does that; whether to pair is for the
    /// application to say.
    private mutating func securityRequested(
        _ requirements: AuthenticationRequirements, _ slot: Int, at now: Instant
    ) {
        // A peer that asks has paired: the keys that were made last may be all it asks for.
        confirmPairing(slot, at: now)
        if let bond = bond(of: slot), bond.centralKey != nil, bond.strength.satisfies(requirements) {
            // On an encrypted link nothing is gained by encrypting it again.
            if links.at[slot].protection.strength == nil { encryptWithBond(slot, at: now) }
            return
        }
        events.append(.security(links.at[slot].identifier, .requested(requirements)))
    }

    /// The peer has not paired before it has the last keys, nor been refused before it has the reason: an application that ends
    /// the link at once would take them away.
    private mutating func pairingEnded(_ outcome: Result<PairingResult, PairingError>, _ slot: Int, at now: Instant) {
        confirmPairing(slot, at: now)
        guard hasDataOnItsWay(slot) else { return confirmed(outcome, slot, at: now) }
        links.at[slot].protection.unconfirmed = (outcome, now.advanced(by: Self.confirmationTimeout))
        unconfirmedPairings += 1
    }

    /// A controller that does not say what it has sent is not waited for any longer.
    private static let confirmationTimeout = Duration.seconds(5)

    private func hasDataOnItsWay(_ slot: Int) -> Bool {
        !links.at[slot].sendQueue.isEmpty || flow.outstanding(for: links.at[slot].handle) > 0
    }

    /// The controller has sent something.
    mutating func confirmPairings(at now: Instant) {
        for slot in links.slots where links.at[slot].isInUse && !hasDataOnItsWay(slot) { confirmPairing(slot, at: now) }
    }

    private mutating func confirmPairing(_ slot: Int, at now: Instant) {
        guard let (outcome, _) = links.at[slot].protection.unconfirmed else { return }
        links.at[slot].protection.unconfirmed = nil
        unconfirmedPairings -= 1
        confirmed(outcome, slot, at: now)
    }

    private mutating func confirmed(_ outcome: Result<PairingResult, PairingError>, _ slot: Int, at now: Instant) {
        let link = links.at[slot].identifier
        switch outcome {
        case .success(let result):
            let isKept = result.isBonded && keep(result, slot, at: now)
            settleSecurity(slot, at: now)
            events.append(.security(link, .paired(result.strength, isBonded: isKept)))
        case .failure(let error): events.append(.security(link, .pairingFailed(error)))
        }
    }
}

extension KeyStrength {
    /// Whether keys of this strength give what a Security Request asks for.
    func satisfies(_ requirements: AuthenticationRequirements) -> Bool {
        isAuthenticated || !requirements.contains(.mitmProtection)
    }
}
