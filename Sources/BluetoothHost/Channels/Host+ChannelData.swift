import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP

/// Data on credit-based channels.
///
/// A K-frame is written once, directly into the outbox, if the channel has a credit and the controller a free buffer.
/// Otherwise the rest of the SDU waits in its channel, never in the queue of the link. A channel with much to send
/// therefore delays neither the link's other channels nor its fixed ones.
extension Host {
    // MARK: Receiving

    /// Acts on the receipt of a frame's payload, on a channel that is not a fixed one.
    @inline(never)
    mutating func received(
        _ receipt: CreditBasedChannel.Receipt, _ payload: Span<UInt8>, on cid: ChannelIdentifier,
        _ slot: LinkSlot,
        at now: Instant
    ) {
        switch receipt {
        case .incomplete, .ignored: return
        case .sdu(let id): return received(payload, as: id, slot)
        case .reassembledSDU(let id): return receivedReassembled(id, slot)
        case .pdu(let id, let owesCredits):
            receivePDU(payload.extracting(2..<payload.count), on: AttributeChannel.ID(id), slot, at: now)
            if owesCredits { giveCredits(on: id, slot) }
        case .reassembledPDU(let id, let owesCredits):
            // The link changes while the PDU is handled, so the PDU must not be stored in it.
            var pdu = ByteWriter()
            swap(&pdu, &reassembledSDU)
            pdu.removeAll()
            links.at[slot.index].signalling.channels.appendReassembled(of: id, to: &pdu)
            receivePDU(pdu.span, on: AttributeChannel.ID(id), slot, at: now)
            swap(&pdu, &reassembledSDU)
            if owesCredits { giveCredits(on: id, slot) }
        case .starved(let id): giveCredits(on: id, slot)
        case .unknown: handle(.channelUnknown, of: slot, at: now)
        case .violated(let violation):
            links.at[slot.index].signalling.channels.fail(cid, violation)
            settleChannels(slot, at: now)
        }
        endIfOverwhelmed(slot, at: now)
    }

    /// Reports an SDU that arrived in one K-frame.
    @inline(__always)
    mutating func received(_ payload: Span<UInt8>, as id: CreditBasedChannel.ID, _ slot: LinkSlot) {
        let sdu = events.store(payload.extracting(2..<payload.count))
        events.append(.channel(links.at[slot.index].identifier, .received(id, sdu)))
    }

    /// Reports an SDU that arrived in several K-frames.
    @inline(__always)
    mutating func receivedReassembled(_ id: CreditBasedChannel.ID, _ slot: LinkSlot) {
        let start = events.storage.count
        links.at[slot.index].signalling.channels.appendReassembled(of: id, to: &events.storage)
        events.append(.channel(links.at[slot.index].identifier, .received(id, events.payload(from: start))))
    }

    /// Handles the beginning of a frame that is longer than this host accepts.
    ///
    /// - Returns: whether the peer received an answer, or the channel was closed.
    mutating func receiveTooLong(_ start: Span<UInt8>, _ slot: LinkSlot, at now: Instant) -> Bool {
        guard let header = L2CAPFrame.header(ofPDUStartingWith: start), links.at[slot.index].life.takesFrames else {
            return false
        }
        let start = start.extracting(droppingFirst: L2CAPFrame.headerLength)
        if header.channel == .attributeProtocol { return refuse(tooLong: start, slot, at: now) }
        if header.channel == .leSignalling {
            openFrame()
            let outcome = links.at[slot.index].signalling.receiveTooLong(start, into: &outbox.writer)
            closeFrame(slot, .leSignalling)
            guard case .rejected = outcome else { return false }
            handle(.signallingRejected, of: slot, at: now)
            return true
        }
        guard links.at[slot.index].signalling.channels.id(at: header.channel) != nil else { return false }
        links.at[slot.index].signalling.channels.fail(header.channel, .frameTooLong)
        settleChannels(slot, at: now)
        return true
    }

    /// Notes that the reader has consumed an SDU of `length` octets, so that the peer may send more. Without these
    /// calls the peer eventually runs out of credits.
    public mutating func consume(_ length: Int, of channel: CreditBasedChannel.ID, on link: LinkIdentifier) {
        guard let slot = links.slot(of: link), links.at[slot.index].signalling.channels.consume(length, on: channel)
        else {
            return
        }
        giveCredits(on: channel, slot)
    }

    /// Notes that the reader has consumed SDUs, given the sum of their shares: `ChannelParameters.share(ofSDU:)`.
    ///
    /// - Returns: `sending` if the peer got credits, or `any` if the link is ending or must end; otherwise `none`.
    @discardableResult
    public mutating func consume(
        share: Int, of channel: CreditBasedChannel.ID, on link: LinkIdentifier
    ) -> HostConsequence {
        guard let slot = links.slot(of: link),
            links.at[slot.index].signalling.channels.consume(share: share, on: channel)
        else { return .none }
        giveCredits(on: channel, slot)
        return links.at[slot.index].life.isOpen ? .sending : .any
    }

    @inline(never)
    mutating func giveCredits(on channel: CreditBasedChannel.ID, _ slot: LinkSlot) {
        openFrame()
        links.at[slot.index].signalling.giveCredits(on: channel, into: &outbox.writer)
        closeFrame(slot, .leSignalling)
    }

    // MARK: Sending

    /// Sends an SDU, of one octet or more, over an open channel. Returns false if too much data is waiting on the
    /// channel: the SDU was not sent, and `HostEvent.Channel.readyToSend` will follow.
    ///
    /// - Throws: `.noSuchChannel` if the channel is closed, `.invalidParameters` if the SDU is empty or longer than the
    ///   peer's MTU.
    public mutating func send(
        _ sdu: [UInt8], over channel: CreditBasedChannel.ID, on link: LinkIdentifier
    ) throws(HostError) -> Bool {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        switch links.at[slot.index].signalling.channels.prepareToSend(sdu.count, on: channel) {
        case .ready(let frames): transmit(sdu, frames, over: channel, slot)
        case .full: return false
        case .invalidLength: throw .invalidParameters
        case .closed: throw .noSuchChannel
        }
        return true
    }

    /// Sends the K-frames of an SDU that may be sent immediately, and queues the rest.
    @inline(__always)
    mutating func transmit(
        _ sdu: [UInt8], _ frames: Int, over channel: CreditBasedChannel.ID, _ slot: LinkSlot
    ) {
        var frames = frames, sent = 0
        while frames > 0, canSendAtOnce(slot) {
            frames &-= 1
            openFrame()
            let remote = links.at[slot.index].signalling.channels.appendFrame(
                of: sdu.span, sent: &sent, on: channel, into: &outbox.writer)
            closeFrame(slot, to: remote)
            if sent == sdu.count { return }
        }
        links.at[slot.index].signalling.channels.enqueue(sdu, sent: sent, on: channel)
        channelsMayWait = true
    }

    /// The number of SDUs that are waiting on a channel; 0 if it is closed.
    ///
    /// Mutating only to read the link in place.
    public mutating func waitingCount(of channel: CreditBasedChannel.ID, on link: LinkIdentifier) -> Int {
        guard let slot = links.slot(of: link) else { return 0 }
        return links.at[slot.index].signalling.channels.waitingCount(on: channel)
    }

    @inline(__always)
    func canSendAtOnce(_ slot: LinkSlot) -> Bool { links.at[slot.index].sendQueue.isEmpty && flow.canSend }

    /// Sends the data waiting on channels, as far as credits and buffers allow: one K-frame of each channel of a link
    /// in turn.
    mutating func pumpChannels(at now: Instant) {
        guard channelsMayWait else { return }
        channelsMayWait = false
        for slot in links.slots where links.at[slot.index].isInUse {
            let hasBearers = !links.at[slot.index].enhanced.bearers.isEmpty
            while canSendAtOnce(slot),
                let id = links.at[slot.index].signalling.channels.nextToSend(
                    after: links.at[slot.index].lastSendingChannel)
            {
                if hasBearers || !sendRun(of: id, slot, at: now) {
                    guard sendOne(of: id, hasBearers, slot, at: now) else { break }
                }
                links.at[slot.index].lastSendingChannel = id.cid
                if links.at[slot.index].signalling.channels.isReadyAgain(id) {
                    let link = links.at[slot.index].identifier,
                        isBearer = links.at[slot.index].enhanced.bearers.contains(id)
                    events.append(isBearer ? .link(link, .readyToSend) : .channel(link, .readyToSend(id)))
                }
            }
            if links.at[slot.index].signalling.channels.endDrained(at: now) { channelsMayWait = true }
            if links.at[slot.index].signalling.owesCommands { settleChannels(slot, at: now) }
        }
    }

    /// Sends K-frames of a channel one after another, as far as credits and buffers allow, if no other channel of the
    /// link waits and each frame fits into a packet. Returns false if nothing was sent.
    @inline(__always)
    private mutating func sendRun(of id: CreditBasedChannel.ID, _ slot: LinkSlot, at now: Instant) -> Bool {
        guard links.at[slot.index].signalling.channels.sendsAlone(id) else { return false }
        let handle = links.at[slot.index].handle
        let count = links.at[slot.index].signalling.channels.appendWaitingFrames(
            on: id, upTo: flow.room(for: handle), longest: aclDataLength &- FixedChannel.headroom, at: now,
            into: &outbox
        ) { remote, length in Self.headers(handle, remote, length) }
        flow.takeBuffers(count, for: handle)
        return count > 0
    }

    /// Sends or queues a K-frame of a channel. Returns false if there is none.
    @inline(never)
    private mutating func sendOne(
        of id: CreditBasedChannel.ID, _ mayJoin: Bool, _ slot: LinkSlot, at now: Instant
    ) -> Bool {
        let join = mayJoin ? notificationJoining(slot, over: id) : nil
        openFrame()
        let remote = links.at[slot.index].signalling.channels.appendWaitingFrame(
            on: id, at: now, into: &outbox.writer, join: join)
        guard let remote else {
            outbox.rollback()
            return false
        }
        closeFrame(slot, to: remote)
        return true
    }
}
