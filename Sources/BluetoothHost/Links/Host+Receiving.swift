import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP

/// Packets from the controller.
extension Host {
    /// Handles one H4 packet from the controller.
    public mutating func receive(_ packet: Span<UInt8>, at now: Instant) {
        consequence = .any
        // Without a controller there are no links, so only ACL data can skip the check below.
        if packet.count > 0, packet[0] == HCIPacketType.aclData.rawValue {
            return receiveACL(packet.extracting(droppingFirst: 1), at: now)
        }
        guard lifecycle.isUnderWay else { return }
        guard packet.count > 0, let type = HCIPacketType(rawValue: packet[0]) else {
            return handle(.packetMalformed, at: now)
        }
        switch type {
        case .event: receiveEvent(packet.extracting(droppingFirst: 1), at: now)
        case .command: handle(.packetMalformed, at: now)
        case .aclData, .synchronousData, .isoData: break
        }
    }

    private mutating func receiveACL(_ bytes: Span<UInt8>, at now: Instant) {
        // `receiveInvalidACL` only determines which link has lost the packet, regardless of the error.
        guard let packet = try? ACLDataPacket(decoding: bytes), let slot = links.slot(of: packet.connectionHandle)
        else { return receiveInvalidACL(bytes, at: now) }
        // Nearly every packet is a complete frame, so nothing has to be kept.
        guard packet.isOrdinaryStart, !links.at[slot.index].reassembler.isPartial,
            let frame = L2CAPFrame(whole: packet.data),
            packet.data.count <= Link.maximumFrameLength, links.at[slot.index].life.isOpen
        else { return receiveFragment(packet, slot, at: now) }
        guard ChannelIdentifier.leDynamicRange.contains(frame.channel.rawValue) else {
            links.at[slot.index].receiveCredit.packetReceived()
            if receiveFlow.packetReceived() { returnCredits() }
            if frame.channel == .attributeProtocol, frame.payload.isNotification { consequence = .none }
            return receiveOpenFrame(frame, slot, at: now)
        }
        receiveChannelFrame(frame.payload, on: frame.channel, slot, at: now)
    }

    /// Handles a complete frame in one packet, on a channel that is not a fixed one. Only the frequent outcomes are
    /// handled here.
    @inline(never)
    private mutating func receiveChannelFrame(
        _ payload: Span<UInt8>, on cid: ChannelIdentifier, _ slot: LinkSlot, at now: Instant
    ) {
        let receipt = links.at[slot.index].receive(payload, on: cid)
        if receiveFlow.packetReceived() { returnCredits() }
        switch receipt {
        case .incomplete: consequence = .none
        case .sdu(let id):
            consequence = .none
            received(payload, as: id, slot)
        case .reassembledSDU(let id):
            consequence = .none
            receivedReassembled(id, slot)
        case .pdu(let id, let owesCredits) where !owesCredits:
            receivePDU(payload.extracting(2..<payload.count), on: AttributeChannel.ID(id), slot, at: now)
        default: received(receipt, payload, on: cid, slot, at: now)
        }
    }

    @inline(never)
    private mutating func receiveFragment(_ packet: borrowing ACLDataPacket, _ slot: LinkSlot, at now: Instant) {
        // Whatever the frame is, the packet may have established the link, or have interrupted another frame.
        defer { consequence = .any }
        if links.at[slot.index].reassembler.isPartial, packet.boundary != .continuing {
            frameLost(.frameInterrupted, on: links.at[slot.index].reassembler.channel, slot, at: now)
        }
        let outcome = links.at[slot.index].receive(packet)
        if receiveFlow.packetReceived() { returnCredits() }
        switch outcome {
        case .frame:
            if let frame = L2CAPFrame(whole: packet.data) { receiveFrame(frame, slot, at: now) }
        case .reassembled:
            // The link changes while the frame is handled, so the frame must not be stored in it.
            var frame = ByteWriter()
            swap(&frame, &reassembled)
            frame.removeAll()
            let reassembler = links.at[slot.index].reassembler
            frame.append(reassembler.buffer)
            if let frame = L2CAPFrame(whole: frame.span) { receiveFrame(frame, slot, at: now) }
            swap(&frame, &reassembled)
        case .incomplete: return
        case .dropped(.empty): handle(.fragmentEmpty, of: slot, at: now)
        case .dropped(.frameTooLong) where packet.boundary != .continuing:
            if !receiveTooLong(packet.data, slot, at: now) { dropped(.fragmentInvalid, slot, at: now) }
        case .dropped(.flagsInvalid): dropped(.dataFlagsInvalid, slot, at: now)
        case .dropped: dropped(.fragmentInvalid, slot, at: now)
        }
    }

    /// Handles the loss of a dropped packet and of the frame that it belongs to.
    private mutating func dropped(_ fault: HostFault, _ slot: LinkSlot, at now: Instant) {
        frameLost(fault, on: links.at[slot.index].reassembler.lostChannel, slot, at: now)
    }

    /// Handles the loss of a frame on a channel, which is nil if unknown. A credit-based channel is closed.
    private mutating func frameLost(_ fault: HostFault, on channel: UInt16?, _ slot: LinkSlot, at now: Instant) {
        handle(fault, of: slot, at: now)
        links.at[slot.index].signalling.channels.frameLost(on: channel.map { ChannelIdentifier($0) })
        settleChannels(slot, at: now)
    }

    /// Handles a packet that belongs to no link, or that has a wrong length. In the latter case, data of its link is
    /// missing.
    @inline(never)
    private mutating func receiveInvalidACL(_ bytes: Span<UInt8>, at now: Instant) {
        var reader = ByteReader(bytes)
        // The only possible error is that the packet ends before its connection handle, so it belongs to no link.
        guard let header = try? reader.readUInt16(), let slot = links.slot(of: ConnectionHandle(header)) else {
            return handle(.dataUnassigned, at: now)
        }
        links.at[slot.index].reassembler.reset()
        frameLost(.fragmentInvalid, on: nil, slot, at: now)
    }

    @inline(__always)
    private mutating func receiveFrame(_ frame: borrowing L2CAPFrame, _ slot: LinkSlot, at now: Instant) {
        guard links.at[slot.index].life.isOpen || takesFrames(slot, at: now) else { return }
        receiveOpenFrame(frame, slot, at: now)
    }

    /// Handles a frame on an established link.
    @inline(__always)
    private mutating func receiveOpenFrame(_ frame: borrowing L2CAPFrame, _ slot: LinkSlot, at now: Instant) {
        switch frame.channel {
        case .attributeProtocol: receiveATT(frame.payload, slot, at: now)
        case .leSignalling: receiveSignalling(frame.payload, slot, at: now)
        case .securityManager: receiveSecurity(frame.payload, slot, at: now)
        default:
            let receipt = links.at[slot.index].signalling.channels.receive(frame.payload, on: frame.channel)
            return received(receipt, frame.payload, on: frame.channel, slot, at: now)
        }
        endIfOverwhelmed(slot, at: now)
    }

    /// The first packet from a peer establishes its link.
    @inline(never)
    private mutating func takesFrames(_ slot: LinkSlot, at now: Instant) -> Bool {
        establish(slot, at: now)
        guard !links.at[slot.index].life.takesFrames else { return true }
        handle(.frameUnwanted, of: slot, at: now)
        return false
    }

    /// Ends a link whose responses no longer fit into the send queue. Called after every step that may send a response.
    @inline(__always)
    mutating func endIfOverwhelmed(_ slot: LinkSlot, at now: Instant) {
        if !links.at[slot.index].life.isOpen { endOverwhelmed(slot, at: now) }
    }

    @inline(never)
    private mutating func endOverwhelmed(_ slot: LinkSlot, at now: Instant) {
        consequence = .any
        if links.at[slot.index].life.isOverwhelmed { handle(.sendQueueOverflow, of: slot, at: now) }
    }

    private mutating func receiveSignalling(_ payload: Span<UInt8>, _ slot: LinkSlot, at now: Instant) {
        let listeners = channelListeners, security = links.at[slot.index].endpoint.security
        let bearers = bearerAdmission(slot)
        var asksForBearers = false
        openFrame()
        let outcome = links.at[slot.index].signalling.receive(payload, into: &outbox.writer) { psm in
            guard psm != SPSM.enhancedATT else {
                asksForBearers = true
                return bearers
            }
            return listeners[psm]?.admission(on: security) ?? .refused(.spsmNotSupported)
        }
        closeFrame(slot, .leSignalling)
        if asksForBearers { negotiateBearers(.peerAsked, slot, at: now) }
        if case .rejected = outcome { handle(.signallingRejected, of: slot, at: now) }
        signallingStepped(outcome, slot, at: now)
        settleChannels(slot, at: now)
        // The peer may have sent credits.
        pumpChannels(at: now)
    }
}

extension Span<UInt8> {
    /// Whether these are the octets of an ATT_HANDLE_VALUE_NTF PDU (Core 5.4, Vol 3, Part F, 3.4.7.1).
    @inline(__always)
    fileprivate var isNotification: Bool { count > 0 && self[0] == ATTOpcode.handleValueNotification.rawValue }
}
