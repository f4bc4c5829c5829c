import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP

/// L2CAP frames to the controller.
///
/// A frame is written once, directly into the outbox, behind room for the HCI and L2CAP headers. If the controller has
/// a free buffer and the frame fits into it, closing the frame only fills in the headers. Otherwise the frame is copied
/// into the queue of its link, and sent from there in fragments as buffers become available.
extension Host {
    /// The H4 packet indicator, the ACL header and the channel's header.
    private static var headroom: Int { 1 &+ ACLDataPacket.headerLength &+ FixedChannel.headroom }

    /// Leaves room for the headers of a frame. Append its payload to `outbox.writer`.
    @inline(__always)
    mutating func openFrame() {
        outbox.writer.leaveRoom(for: Self.headroom)
    }

    /// The number of payload octets written since `openFrame`.
    @inline(__always)
    var openPayloadCount: Int { outbox.writer.count &- outbox.openOffset &- Self.headroom }

    /// Fills in the headers of the most recently opened frame, and sends or queues it. A frame without payload is
    /// discarded.
    @inline(__always)
    mutating func closeFrame(_ slot: LinkSlot, _ channel: FixedChannel) {
        closeFrame(slot, to: channel.identifier)
    }

    /// Closes the frame like `closeFrame(_:_:)`, for any channel, which the peer's endpoint identifies.
    ///
    /// - Parameter sduLength: the SDU length to write into the first two octets of the payload; nil if the frame does
    ///   not start an SDU.
    @inline(__always)
    mutating func closeFrame(_ slot: LinkSlot, to channel: ChannelIdentifier, sduLength: Int? = nil) {
        let length = openPayloadCount
        guard length > 0, links.at[slot.index].isInUse else { return outbox.rollback() }
        let handle = links.at[slot.index].handle
        let frameLength = length &+ FixedChannel.headroom
        fillHeaders(handle, channel, length, sduLength)
        if links.at[slot.index].sendQueue.isEmpty, frameLength <= aclDataLength,
            flow.takeBuffer(for: handle)
        {
            outbox.commit()
        } else {
            queueOpenFrame(slot, frameLength)
        }
    }

    /// Fills in the headers of the most recently opened frame, assuming that it is sent in a single packet.
    @inline(__always)
    private mutating func fillHeaders(
        _ handle: ConnectionHandle, _ channel: ChannelIdentifier, _ length: Int, _ sduLength: Int? = nil
    ) {
        let (type, header) = Self.headers(handle, channel, length)
        guard let sduLength else { return outbox.writer.overwrite(type, then: header, at: outbox.openOffset) }
        outbox.writer.overwrite(type, then: header, UInt16(truncatingIfNeeded: sduLength), at: outbox.openOffset)
    }

    /// The headers of a frame that is sent in a single packet: the packet indicator, followed by the connection handle
    /// and the ACL data length, two octets each, and the channel's header.
    @inline(__always)
    static func headers(
        _ handle: ConnectionHandle, _ channel: ChannelIdentifier, _ length: Int
    ) -> (UInt8, UInt64) {
        let lengths = UInt64(truncatingIfNeeded: length &+ FixedChannel.headroom) << 16
        let header = UInt64(L2CAPFrame.header(to: channel, payloadLength: length)) << 32
        return (HCIPacketType.aclData.rawValue, UInt64(handle.rawValue) | lengths | header)
    }

    /// Moves the most recently opened frame to the queue of its link.
    private mutating func queueOpenFrame(_ slot: LinkSlot, _ frameLength: Int) {
        guard links.at[slot.index].sendQueue.count < sendQueueLimit &+ Link.answerReserve else {
            links.at[slot.index].life.overwhelm()
            consequence = .any
            return outbox.rollback()
        }
        if links.at[slot.index].sendQueue.isEmpty { sendRotation.queueFilled() }
        links.at[slot.index].queue(frameOf: frameLength, endOf: outbox.writer)
        outbox.rollback()
        pump()
    }

    /// Sends queued frames as far as the controller has room, one frame of each link in turn.
    mutating func pump() {
        var idle = 0
        while idle < links.slots.count, sendRotation.waitingCount > 0 {
            idle = sendFromQueue(of: sendRotation.next(of: links.slots.count)) ? 0 : idle + 1
        }
    }

    /// Sends as much of a link's oldest frame as the controller has room for. Returns false if nothing could be sent.
    private mutating func sendFromQueue(of slot: LinkSlot) -> Bool {
        guard links.at[slot.index].isInUse, !links.at[slot.index].sendQueue.isEmpty else { return false }
        guard sendJoined(slot) || links.at[slot.index].sendOldest(through: &flow, length: aclDataLength, into: &outbox)
        else {
            return false
        }
        if links.at[slot.index].sendQueue.isEmpty { sendRotation.queueEmptied() }
        if links.at[slot.index].mustSignalReady, links.at[slot.index].sendQueue.count <= sendQueueLimit / 2 {
            links.at[slot.index].mustSignalReady = false
            events.append(.link(links.at[slot.index].identifier, .readyToSend))
        }
        return true
    }

    /// Sends the oldest frames of a link as one, if they are notifications, the client supports that, and they fit into
    /// one packet. Returns false otherwise, or if the controller has no free buffer.
    private mutating func sendJoined(_ slot: LinkSlot) -> Bool {
        guard joinsNotifications(slot), links.at[slot.index].sentOfFirst == 0, links.at[slot.index].sendQueue.count > 1,
            let mtu = links.at[slot.index].endpoint.bearer(of: .first)?.mtu
        else { return false }
        let limit = min(mtu, aclDataLength &- FixedChannel.headroom)
        let count = links.at[slot.index].sendQueue.joinableNotifications(behind: .frame, limit: limit)
        guard count > 0, flow.takeBuffer(for: links.at[slot.index].handle) else { return false }
        openFrame()
        links.at[slot.index].sendQueue.joinNotifications(count, behind: .frame, into: &outbox.writer)
        fillHeaders(links.at[slot.index].handle, .attributeProtocol, openPayloadCount)
        outbox.commit()
        return true
    }

    /// Whether the peer, as a client, supports several values in one notification.
    func joinsNotifications(_ slot: LinkSlot) -> Bool {
        links.at[slot.index].endpoint.servedClient.clientSupportedFeatures.contains(.multipleHandleValueNotifications)
    }

    /// The number of frames that wait in a link's send queue for the controller's buffers, plus the PDUs that wait on
    /// its enhanced ATT bearers for the peer's credits; 0 if the link has ended.
    public func queuedFrameCount(of link: LinkIdentifier) -> Int {
        guard let slot = links.slot(of: link) else { return 0 }
        var count = links.at[slot.index].sendQueue.count
        if !links.at[slot.index].enhanced.bearers.isEmpty {
            for channel in links.at[slot.index].enhanced.bearers {
                count &+= links.at[slot.index].signalling.channels.waitingCount(on: channel)
            }
        }
        return count
    }

    private var sendQueueLimit: Int { max(1, configuration.sendQueueLimit) }
    /// The maximum number of values that wait on one channel.
    var valueLimit: Int { sendQueueLimit }

    /// Whether a link's queue has room for another value that may be refused: a notification or a command. Requests,
    /// responses and confirmations are never refused, because the protocol itself allows only one of each at a time.
    @inline(__always)
    mutating func hasRoom(_ slot: LinkSlot) -> Bool {
        guard links.at[slot.index].sendQueue.count >= sendQueueLimit else { return true }
        links.at[slot.index].mustSignalReady = true
        return false
    }
}
