import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothL2CAP
import BluetoothSMP

/// Signed writes: authenticated data on unencrypted links (Core 5.4, Vol 3, Part C, 10.4).
extension Host {
    /// Writes a value without response, signed with the key of the bond. On an encrypted link the write is not signed,
    /// because signatures must not be used there (Vol 3, Part C, 10.4.1). Returns false if the link's send queue is
    /// full.
    ///
    /// - Throws: `.notBonded` if there is no key to sign with.
    public mutating func writeSigned(
        _ value: Span<UInt8>, to handle: AttributeHandle, on link: LinkIdentifier
    ) throws(HostError) -> Bool {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        if links.at[slot.index].protection.strength != nil {
            return try writeWithoutResponse(value, to: handle, on: link)
        }
        guard let bond = bond(of: slot), let key = bond.localSignature else { throw .notBonded }
        let overhead = 3 + SignedWriteCommand.signatureLength
        let maximum = (links.at[slot.index].endpoint.bearer(of: .first)?.mtu ?? ATTBearer.defaultMTU) - overhead
        guard value.count <= maximum else { throw .client(.valueTooLong(maximum: maximum)) }
        guard hasRoom(slot) else { return false }
        guard hasStoredCounter(of: key, bond) else {
            let value = value.withUnsafeBufferPointer { Array($0) }
            return links.at[slot.index].protection.hold(HeldSignedWrites.Outgoing(attribute: handle, value: value))
        }
        try sendSigned(value, to: handle, key, bond, slot)
        return true
    }

    private mutating func sendSigned(
        _ value: Span<UInt8>, to handle: AttributeHandle, _ key: SignatureKey, _ bond: Bond, _ slot: LinkSlot
    ) throws(HostError) {
        guard let crypto = security?.crypto else { throw .notBonded }
        let counter = try takeSignatureCounter(of: key, bond)
        var pdu = ByteWriter()
        pdu.append(ATTOpcode.signedWriteCommand.rawValue)
        pdu.append(handle)
        pdu.append(value)
        let signature = crypto.signature(key: key.key, message: pdu.span, counter: counter)
        pdu.append(counter)
        pdu.append(signature)
        openFrame()
        outbox.writer.append(pdu.span)
        closeFrame(slot, .attributeProtocol)
    }

    /// Whether a counter for the next signature is stored as used. If none is left, the host reserves a block of
    /// counters.
    private mutating func hasStoredCounter(of key: SignatureKey, _ bond: Bond) -> Bool {
        switch signingCounters.availability(for: bond.peer, of: key, isStored: configuration.storesBonds) {
        case .ready: return true
        case .waiting: return false
        case .reserved(let limit):
            keepCounters(below: limit, of: key, bond)
            return false
        }
    }

    private mutating func keepCounters(below limit: UInt32, of key: SignatureKey, _ bond: Bond) {
        var bond = bond
        bond.localSignature = SignatureKey(key: key.key, counter: limit)
        peers.setBond(bond)
        events.append(.bondChanged(bond))
    }

    /// Notes that an existing bond was stored again, or could not be. Writes that wait for its counters continue. If
    /// storing failed, they are dropped, which is allowed for commands.
    public mutating func bondUpdateWritten(_ bond: Bond, isStored: Bool, at now: Instant) {
        for slot in links.used where links.at[slot.index].lastingPeer == peers.lastingPeer(of: bond.peer) {
            for write in links.at[slot.index].protection.takeIncomingWrites(below: bond.peerSignature?.counter ?? 0)
            where isStored {
                commitSigned(write.pdu.span, to: write.attribute, write.value, slot, at: now)
            }
        }
        guard let known = peers.bond(with: bond.peer), known.localSignature == bond.localSignature,
            signingCounters.reservationEnded(for: bond.peer, isStored: isStored)
        else { return }
        for slot in links.used where links.at[slot.index].lastingPeer == known.peer {
            for write in links.at[slot.index].protection.takeOutgoingWrites() where isStored {
                // The peer may have a new key by now, or the MTU may be shorter. A command may be dropped.
                _ = try? writeSigned(write.value.span, to: write.attribute, on: links.at[slot.index].identifier)
            }
        }
    }

    /// A counter that was never used with this key. A block of counters is stored as used before the first of them is
    /// used.
    private mutating func takeSignatureCounter(of key: SignatureKey, _ bond: Bond) throws(HostError) -> UInt32 {
        if let limit = signingCounters.reserve(for: bond.peer, of: key) { keepCounters(below: limit, of: key, bond) }
        // After 4 billion writes, only a new pairing helps.
        guard let counter = signingCounters.take(for: bond.peer) else { throw .notBonded }
        return counter
    }

    /// Handles a signed write to a value that supports signed writes. It is accepted if the signature is valid and its
    /// counter was not used before (Vol 3, Part C, 10.4.2).
    mutating func receiveSignedWrite(
        _ pdu: Span<UInt8>, to attribute: AttributeHandle, _ value: Range<Int>, _ slot: LinkSlot, at now: Instant
    ) {
        // A PDU that is too short for a signature counts as having an invalid one.
        guard let crypto = security?.crypto, var bond = bond(of: slot), let key = bond.peerSignature,
            let received = try? SignedWriteCommand.signature(of: pdu, signedLength: value.upperBound),
            received.counter >= key.counter, received.counter < .max,
            isEqualInConstantTime(
                UInt128(received.code),
                UInt128(
                    crypto.signature(
                        key: key.key, message: pdu.extracting(0..<value.upperBound), counter: received.counter)))
        else { return handle(.signatureInvalid, of: slot, at: now) }
        // LE security mode 2, level 2: the key must come from a pairing that meets the requirement of the value (Vol 3,
        // Part C, 10.2.2).
        let isStrongEnough =
            switch server.database.writeRequirement(of: attribute) {
            case nil, .notAllowed, .open, .encrypted: true
            case .authenticated: bond.strength.isAuthenticated
            case .authenticatedSecureConnections: bond.strength.isAuthenticated && bond.strength.usesSecureConnections
            }
        guard isStrongEnough else { return handle(.attributePDUIgnored, of: slot, at: now) }
        bond.peerSignature = SignatureKey(key: key.key, counter: received.counter + 1)
        peers.setBond(bond)
        events.append(.bondChanged(bond))
        guard configuration.storesBonds else { return commitSigned(pdu, to: attribute, value, slot, at: now) }
        let bytes = pdu.withUnsafeBufferPointer { Array($0) }
        _ = links.at[slot.index].protection.hold(
            HeldSignedWrites.Incoming(pdu: bytes, attribute: attribute, value: value, counter: received.counter))
    }

    private mutating func commitSigned(
        _ pdu: Span<UInt8>, to attribute: AttributeHandle, _ value: Range<Int>, _ slot: LinkSlot, at now: Instant
    ) {
        let outcome = links.at[slot.index].endpoint.commitSigned(
            pdu.extracting(value), to: attribute, server: &server, at: now)
        served(outcome, pdu, slot)
    }
}

extension SignedWriteCommand {
    /// The counter and the code that follow the signed octets.
    fileprivate static func signature(
        of pdu: Span<UInt8>, signedLength: Int
    ) throws(DecodingFailure) -> (counter: UInt32, code: UInt64) {
        var reader = ByteReader(pdu.extracting(signedLength..<pdu.count))
        return (try reader.readUInt32(), try reader.readUInt64())
    }
}
