import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP

/// Enhanced ATT bearers: additional channels for the Attribute Protocol on encrypted links (Core 5.4, Vol 3, Part F,
/// 3.2.11 and Part G, 5.3). Either side may request them. Both sides are client and server on each bearer.
extension Host {
    /// The number of open enhanced ATT bearers of a link, not counting the fixed channel.
    public func enhancedBearerCount(of link: LinkIdentifier) -> Int {
        links.slot(of: link).map { links.at[$0.index].enhanced.bearers.count } ?? 0
    }

    /// The enhanced ATT bearers of a link, oldest first.
    public func enhancedBearers(of link: LinkIdentifier) -> [AttributeChannel.ID] {
        links.slot(of: link).map { links.at[$0.index].enhanced.bearers.map { AttributeChannel.ID($0) } } ?? []
    }

    /// The bearer for an operation that need not be carried out in the order of the calls. An idle enhanced bearer is
    /// preferred, because the fixed channel has other traffic, and losing it means losing the link. If no enhanced
    /// bearer is idle, it is the bearer with the fewest operations.
    public func bearerForOperation(on link: LinkIdentifier) -> AttributeChannel.ID {
        guard let slot = links.slot(of: link), !links.at[slot.index].enhanced.bearers.isEmpty else { return .first }
        let mtu = links.at[slot.index].endpoint.bearer(of: .first)?.mtu ?? 0
        let free = links.at[slot.index].endpoint.channels.first {
            $0.id != .first && $0.pendingOperationCount == 0 && !$0.bearer.isDead && $0.bearer.mtu >= mtu
        }
        return free?.id ?? links.at[slot.index].endpoint.channelForOperation ?? .first
    }

    /// Whether a bearer is open.
    public func isOpen(_ bearer: AttributeChannel.ID, on link: LinkIdentifier) -> Bool {
        guard let slot = links.slot(of: link) else { return false }
        return links.at[slot.index].endpoint.bearer(of: bearer)?.isDead == false
    }

    private var bearerLimit: Int {
        min(max(0, configuration.enhancedBearers), CreditBasedChannels.greatestCountAtOnce)
    }

    /// This host's parameters for a bearer. PDUs are as long as on the fixed channel, and usually fit into one K-frame.
    /// They are handled as they arrive, so the window limits nothing: a large one only means that credits are sent less
    /// often.
    private var bearerParameters: ChannelParameters {
        let mtu = max(server.maximumMTU, ATTBearer.minimumEnhancedMTU)
        return ChannelParameters(mtu: UInt16(clamping: mtu), mps: Self.greatestMPS, window: 255)
    }

    /// The response to a peer that requests bearers on a link.
    func bearerAdmission(_ slot: LinkSlot) -> ChannelAdmission {
        guard bearerLimit > 0, security != nil else { return .refused(.spsmNotSupported) }
        if let refusal = ChannelRequirement.encrypted.refusal(on: links.at[slot.index].endpoint.security) {
            return .refused(refusal)
        }
        let requested = links.at[slot.index].negotiation.requestedChannel == nil ? 0 : 1
        return .accepted(
            bearerParameters, limit: max(0, bearerLimit - links.at[slot.index].enhanced.bearers.count - requested))
    }

    // MARK: - Requesting

    /// Handles an event of the negotiation of bearers, and performs the effects.
    mutating func negotiateBearers(_ event: BearerNegotiation.Event, _ slot: LinkSlot, at now: Instant) {
        consequence = .any
        let context = BearerNegotiation.Context(
            role: links.at[slot.index].role, parameters: links.at[slot.index].parameters,
            isOpen: links.at[slot.index].life.isOpen,
            isEncrypted: links.at[slot.index].endpoint.security.isEncrypted, limit: security == nil ? 0 : bearerLimit,
            openCount: links.at[slot.index].enhanced.bearers.count,
            hasRoomForChannel: links.at[slot.index].signalling.channels.room > 0, now: now)
        for effect in links.at[slot.index].negotiation.handle(event, context) {
            switch effect {
            case .start(let operation): startOwnOperation(operation, slot, at: now)
            case .requestChannel: requestBearer(slot, at: now)
            case .abandon(let channel): links.at[slot.index].signalling.channels.abandon(channel)
            case .closeBearers:
                for bearer in links.at[slot.index].enhanced.bearers { closeBearer(bearer, slot, at: now) }
            }
        }
    }

    private mutating func startOwnOperation(_ operation: GATTClientOperation, _ slot: LinkSlot, at now: Instant) {
        openFrame()
        let result = Result { () throws(GATTClientError) in
            try links.at[slot.index].endpoint.start(operation, on: .first, at: now, into: &outbox.writer)
        }
        closeFrame(slot, .attributeProtocol)
        switch result {
        case .success(let operation): negotiateBearers(.operationBegan(operation), slot, at: now)
        // The fixed bearer is dead, or its operation queue is full. The link continues without enhanced bearers.
        case .failure: negotiateBearers(.operationRefused, slot, at: now)
        }
    }

    private mutating func requestBearer(_ slot: LinkSlot, at now: Instant) {
        openFrame()
        let result = Result { () throws(ChannelRequestError) in
            try links.at[slot.index].signalling.openChannels(
                1, to: SPSM.enhancedATT, parameters: bearerParameters, at: now, into: &outbox.writer)
        }
        closeFrame(slot, .leSignalling)
        switch result {
        case .success(let channels): negotiateBearers(.channelRequested(channels[0]), slot, at: now)
        // The link has no room for another channel, and continues without it.
        case .failure: negotiateBearers(.requestRefused, slot, at: now)
        }
    }

    // MARK: - Opening and closing

    /// Handles an event of a channel that carries a bearer. Returns false if it carries none.
    mutating func takeBearerEvent(_ change: ChannelEvent, _ slot: LinkSlot, at now: Instant) -> Bool {
        switch change {
        case .opened(let id, let opener):
            guard let channel = links.at[slot.index].signalling.channels[id], channel.spsm == SPSM.enhancedATT else {
                return false
            }
            let mtu = min(Int(channel.local.mtu), Int(channel.peerMTU))
            links.at[slot.index].endpoint.open(ATTBearer(channelMTU: mtu), as: AttributeChannel.ID(id))
            links.at[slot.index].enhanced.add(id)
            if opener == .thisDevice { negotiateBearers(.channelOpened(id), slot, at: now) }
        case .openingFailed(let id, let failure):
            guard links.at[slot.index].negotiation.requestedChannel == id else { return false }
            let peerLacksRoom = failure == .refused(.noResourcesAvailable)
            negotiateBearers(.channelRefused(id, peerLacksRoom: peerLacksRoom), slot, at: now)
        case .closed(let id, let end):
            guard links.at[slot.index].enhanced.bearers.contains(id) else { return false }
            if case .violated = end { handle(.channelViolated, of: slot, at: now) }
            endBearer(id, slot, at: now)
        case .limitsChanged(let id):
            guard links.at[slot.index].enhanced.bearers.contains(id),
                let channel = links.at[slot.index].signalling.channels[id]
            else { return false }
            let mtu = min(Int(channel.local.mtu), Int(channel.peerMTU))
            links.at[slot.index].endpoint.setMTU(mtu, of: AttributeChannel.ID(id))
        case .reconfigured: return false
        }
        return true
    }

    /// Closes a bearer. The data that waits on it is dropped.
    mutating func closeBearer(_ bearer: CreditBasedChannel.ID, _ slot: LinkSlot, at now: Instant) {
        links.at[slot.index].signalling.channels.abandon(bearer)
        endBearer(bearer, slot, at: now)
        settleChannels(slot, at: now)
    }

    /// Handles the end of a bearer. Its pending operations fail, and the peer's requests on it need no response.
    private mutating func endBearer(_ bearer: CreditBasedChannel.ID, _ slot: LinkSlot, at now: Instant) {
        links.at[slot.index].enhanced.remove(bearer)
        let request = links.at[slot.index].endpoint.close(AttributeChannel.ID(bearer))
        let link = links.at[slot.index].identifier
        if let request { events.append(.server(link, .requestExpired(ServerRequest(link: link, token: request)))) }
        // The peer may have sent values on this bearer that this host's client never received. Only this event reports
        // the loss.
        if !links.at[slot.index].negotiation.isUnused, links.at[slot.index].life.isOpen,
            links.at[slot.index].life.isAnnounced
        {
            events.append(.link(link, .lost(.bearerClosed)))
        }
        drainClient(slot)
    }

    // MARK: - PDUs

    /// Handles a PDU from a bearer.
    @inline(__always)
    mutating func receivePDU(
        _ pdu: Span<UInt8>, on bearer: AttributeChannel.ID, _ slot: LinkSlot, at now: Instant
    ) {
        if !receiveNotification(pdu, slot, on: bearer, at: now) { receiveOther(pdu, on: bearer, slot, at: now) }
    }

    @inline(never)
    private mutating func receiveOther(
        _ pdu: Span<UInt8>, on bearer: AttributeChannel.ID, _ slot: LinkSlot, at now: Instant
    ) {
        receiveAttribute(pdu, slot, on: bearer, at: now)
        if links.at[slot.index].enhanced.isOverwhelmed { endOverwhelmedBearer(slot, at: now) }
        endIfOverwhelmed(slot, at: now)
    }

    /// Closes the bearer whose responses no longer fit.
    @inline(never)
    mutating func endOverwhelmedBearer(_ slot: LinkSlot, at now: Instant) {
        guard let channel = links.at[slot.index].enhanced.takeOverwhelmed() else { return }
        handle(.channelViolated, onBearer: channel, of: slot, at: now)
    }

    /// The size of the SDU length field, which precedes an SDU.
    private static var sduHeadroom: Int { Link.sduHeadroom }

    /// Leaves room for the headers of a frame on a bearer. On an enhanced bearer, that is a K-frame with an SDU length
    /// field.
    @inline(__always)
    mutating func openFrame(on bearer: AttributeChannel.ID) {
        openFrame()
        if bearer != .first { outbox.writer.leaveRoom(for: Self.sduHeadroom) }
    }

    /// Sends the PDU in the most recently opened frame over a bearer. A frame without a PDU is discarded.
    @inline(__always)
    mutating func closeFrame(_ slot: LinkSlot, on bearer: AttributeChannel.ID) {
        if bearer == .first { closeFrame(slot, .attributeProtocol) } else { closeEnhancedFrame(slot, bearer) }
    }

    @inline(never)
    private mutating func closeEnhancedFrame(_ slot: LinkSlot, _ bearer: AttributeChannel.ID) {
        let length = openPayloadCount &- Self.sduHeadroom
        guard length > 0, links.at[slot.index].isInUse else { return outbox.rollback() }
        guard let remote = links.at[slot.index].takeCredit(forWhole: length, on: bearer, flow.canSend) else {
            return sendInParts(length, slot, bearer.channel)
        }
        closeFrame(slot, to: remote, sduLength: length)
    }

    /// Sends the notification in the most recently opened frame, if it is longer than a K-frame or has to wait. Returns
    /// false if too much data is waiting on its bearer: nothing was sent.
    @inline(never)
    mutating func closeWaitingNotification(_ slot: LinkSlot, on bearer: AttributeChannel.ID) -> Bool {
        guard links.at[slot.index].signalling.channels.hasRoom(on: bearer.channel, limit: valueLimit) else {
            outbox.rollback()
            return false
        }
        sendInParts(openPayloadCount &- Self.sduHeadroom, slot, bearer.channel)
        return true
    }

    /// The way in which notifications that wait on a channel are combined; nil if the channel is not a bearer, or the
    /// client does not support combined notifications.
    mutating func notificationJoining(_ slot: LinkSlot, over channel: CreditBasedChannel.ID) -> CreditBasedChannel
        .SDUJoining?
    {
        guard joinsNotifications(slot), links.at[slot.index].enhanced.bearers.contains(channel),
            let mtu = links.at[slot.index].endpoint.bearer(of: AttributeChannel.ID(channel))?.mtu
        else { return nil }
        return { queue, limit, writer in
            let count = queue.joinableNotifications(behind: .none, limit: min(limit, mtu))
            if count > 0 { queue.joinNotifications(count, behind: .none, into: &writer) }
        }
    }

    /// Sends a PDU that is longer than a K-frame, or has to wait. It is never refused, because it may be a response.
    private mutating func sendInParts(_ length: Int, _ slot: LinkSlot, _ channel: CreditBasedChannel.ID) {
        let pdu = Array(outbox.writer.span.extracting(last: length))
        outbox.rollback()
        guard let frames = links.at[slot.index].signalling.channels.readyFrames(on: channel) else { return }
        guard links.at[slot.index].signalling.channels.waitingCount(on: channel) < valueLimit &+ Link.answerReserve
        else {
            links.at[slot.index].enhanced.overwhelm(channel)
            return
        }
        transmit(pdu, frames, over: channel, slot)
    }
}
