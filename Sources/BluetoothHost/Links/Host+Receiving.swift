import BluetoothATT
import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP

/// Packets from the controller.
extension Host {
    /// Takes one H4 packet from the controller.
    public mutating func receive(_ packet: Span<UInt8>, at now: Instant) {
        guard bringUp.isUnderWay else { return }
        guard packet.count > 0, let type = HCIPacketType(rawValue: packet[0]) else {
            return controllerFailed(.malformedPacket, at: now)
        }
        switch type {
        case .aclData: receiveACL(packet.extracting(droppingFirst: 1), at: now)
        case .event: receiveEvent(packet.extracting(droppingFirst: 1), at: now)
        case .command: controllerFailed(.malformedPacket, at: now)
        case .synchronousData, .isoData: break
        }
    }

    private mutating func receiveACL(_ bytes: Span<UInt8>, at now: Instant) {
        guard let packet = try? ACLDataPacket(decoding: bytes), let slot = links.slot(of: packet.connectionHandle)
        else {
            return
        }
        switch links.at[slot].reassembler.receive(packet.data, boundary: packet.boundary) {
        case .frame:
            receiveFrame(packet.data, slot, at: now)
        case .reassembled:
            // The frame lies in the link, which changes while it is handled.
            var frame = ByteWriter()
            swap(&frame, &reassembled)
            frame.removeAll()
            let reassembler = links.at[slot].reassembler
            frame.append(reassembler.buffer)
            receiveFrame(frame.span, slot, at: now)
            swap(&frame, &reassembled)
        case .incomplete, .dropped:
            return
        }
    }

    /// A whole L2CAP frame whose header agrees with its length.
    @inline(__always)
    private mutating func receiveFrame(_ bytes: Span<UInt8>, _ slot: Int, at now: Instant) {
        guard let frame = try? L2CAPFrame(decoding: bytes) else { return }
        if !links.at[slot].isEstablished { establish(slot, at: now) }
        // A link that was called off before anybody heard of it is never heard of.
        guard links.at[slot].wasAnnounced, !links.at[slot].isOverwhelmed else { return }
        switch frame.channel {
        case .attributeProtocol: receiveATT(frame.payload, slot, at: now)
        case .leSignalling: receiveSignalling(frame.payload, slot, at: now)
        case .securityManager: refusePairing(frame.payload, slot)
        default: return  // Nobody is at home there (Vol 3, Part A, 2.1).
        }
        if links.at[slot].isOverwhelmed {
            links.at[slot].disconnectReason = .memoryCapacityExceeded
            sendDisconnect(slot, reason: .remoteDeviceLowResources, at: now)
        }
    }

    private mutating func receiveSignalling(_ payload: Span<UInt8>, _ slot: Int, at now: Instant) {
        openFrame()
        let outcome = links.at[slot].signalling.receive(payload, into: &outbox.writer)
        closeFrame(slot, .leSignalling)
        signallingStepped(outcome, slot, at: now)
    }

    /// There is no security manager yet: whoever wants to pair is told so (Vol 3, Part H, 3.5.5).
    private mutating func refusePairing(_ payload: Span<UInt8>, _ slot: Int) {
        guard payload.count > 0 else { return }
        let pairingRequest: UInt8 = 0x01, securityRequest: UInt8 = 0x0B
        guard payload[0] == pairingRequest || payload[0] == securityRequest else { return }
        openFrame()
        let pairingFailed: UInt8 = 0x05, pairingNotSupported: UInt8 = 0x05
        outbox.writer.append(pairingFailed)
        outbox.writer.append(pairingNotSupported)
        closeFrame(slot, .securityManager)
    }
}
