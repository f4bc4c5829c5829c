import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothL2CAP
import BluetoothSMP

/// Signed writes: data that is authenticated over a link that is not encrypted (Core 5.4, Vol 3, Part C, 10.4).
extension Host {
    /// Writes a value that is not answered, signed with the key of the bond. Over an encrypted link it is a plain write: a
    /// signature must not be used there (Vol 3, Part C, 10.4.1). False where the link's send queue is full.
    ///
    /// - Throws: `.notBonded` if there is no key to sign with.
    public mutating func writeSigned(
        _ value: Span<UInt8>, to handle: AttributeHandle, on link: LinkIdentifier
    ) throws(HostError) -> Bool {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        if links.at[slot].protection.strength != nil {
            return try writeWithoutResponse(value, to: handle, on: link)
        }
        guard let crypto = security?.crypto, let bond = bond(of: slot), let key = bond.localSignature else {
            throw .notBonded
        }
        let overhead = 3 + SignedWriteCommand.signatureLength
        let maximum = (links.at[slot].endpoint.bearer(of: .first)?.mtu ?? ATTBearer.defaultMTU) - overhead
        guard value.count <= maximum else { throw .client(.valueTooLong(maximum: maximum)) }
        guard hasRoom(slot) else { return false }
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
        return true
    }

    /// A counter that was never used with this key. Those of a block are stored as used before the first of them is: the
    /// caller stores a changed bond before it sends.
    private mutating func takeSignatureCounter(of key: SignatureKey, _ bond: Bond) throws(HostError) -> UInt32 {
        var counters = signatureCounters[bond.peer] ?? SignatureCounters(stored: key.counter)
        defer { signatureCounters[bond.peer] = counters }
        if counters.isExhausted {
            var bond = bond
            bond.localSignature = SignatureKey(key: key.key, counter: counters.reserve())
            peers.setBond(bond)
            events.append(.bondChanged(bond))
        }
        // After four billion writes only a new pairing helps.
        guard let counter = counters.take() else { throw .notBonded }
        return counter
    }

    /// A signed write to a value that takes them. It is believed where the signature is right and its counter was not used
    /// before (Vol 3, Part C, 10.4.2).
    mutating func receiveSignedWrite(
        _ pdu: Span<UInt8>, to attribute: AttributeHandle, _ value: Range<Int>, _ slot: Int, at now: Instant
    ) {
        guard let crypto = security?.crypto, var bond = bond(of: slot), let key = bond.peerSignature,
            let received = try? SignedWriteCommand.signature(of: pdu, signedLength: value.upperBound),
            received.counter >= key.counter, received.counter < .max,
            isEqualInConstantTime(
                UInt128(received.code),
                UInt128(
                    crypto.signature(
                        key: key.key, message: pdu.extracting(0..<value.upperBound), counter: received.counter)))
        else { return handle(.signatureInvalid, of: slot, at: now) }
        bond.peerSignature = SignatureKey(key: key.key, counter: received.counter + 1)
        peers.setBond(bond)
        events.append(.bondChanged(bond))
        let outcome = links.at[slot].endpoint.commitSigned(
            pdu.extracting(value), to: attribute, server: &server, at: now)
        served(outcome, pdu, slot)
    }
}

extension SignedWriteCommand {
    /// The counter and the code that follow what is signed.
    fileprivate static func signature(
        of pdu: Span<UInt8>, signedLength: Int
    ) throws(DecodingFailure) -> (counter: UInt32, code: UInt64) {
        var reader = ByteReader(pdu.extracting(signedLength..<pdu.count))
        return (try reader.readUInt32(), try reader.readUInt64())
    }
}
