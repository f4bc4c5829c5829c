import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP

/// Enhanced ATT bearers: further channels for the Attribute Protocol, on links that are encrypted (Core 5.4, Vol 3, Part F,
/// 3.2.11 and Part G, 5.3). Either side may ask for them; both of them are client and server on each.
extension Host {
    /// How many enhanced ATT bearers a link has now, beside the fixed channel.
    public func enhancedBearerCount(of link: LinkIdentifier) -> Int {
        links.slot(of: link).map { links.at[$0].enhanced.bearers.count } ?? 0
    }

    /// The enhanced ATT bearers of a link, oldest first.
    public func enhancedBearers(of link: LinkIdentifier) -> [AttributeChannel.ID] {
        links.slot(of: link).map { links.at[$0].enhanced.bearers.map { AttributeChannel.ID($0) } } ?? []
    }

    /// The bearer for an operation that need not be carried out in the order of the calls: an enhanced one that is free, for
    /// the fixed channel has work of its own, and its loss is that of the link; else the one with the fewest operations.
    public func bearerForOperation(on link: LinkIdentifier) -> AttributeChannel.ID {
        guard let slot = links.slot(of: link), !links.at[slot].enhanced.bearers.isEmpty else { return .first }
        let mtu = links.at[slot].endpoint.bearer(of: .first)?.mtu ?? 0
        let free = links.at[slot].endpoint.channels.first {
            $0.id != .first && $0.pendingOperationCount == 0 && !$0.bearer.isDead && $0.bearer.mtu >= mtu
        }
        return free?.id ?? links.at[slot].endpoint.channelForOperation ?? .first
    }

    /// Whether a bearer is open.
    public func isOpen(_ bearer: AttributeChannel.ID, on link: LinkIdentifier) -> Bool {
        guard let slot = links.slot(of: link) else { return false }
        return links.at[slot].endpoint.bearer(of: bearer)?.isDead == false
    }

    private var bearerLimit: Int {
        min(max(0, configuration.enhancedBearers), CreditBasedChannels.greatestCountAtOnce)
    }

    /// What this host takes on a bearer: PDUs as long as on the fixed channel, mostly in one K-frame each. They are handled as they
    /// come, so the window holds nothing back: it only says how seldom credits have to be given.
    private var bearerParameters: ChannelParameters {
        let mtu = max(server.maximumMTU, ATTBearer.minimumEnhancedMTU)
        return ChannelParameters(mtu: UInt16(clamping: mtu), mps: Self.greatestMPS, window: 255)
    }

    /// What to say to a peer that asks for bearers on a link.
    func bearerAdmission(_ slot: Int) -> ChannelAdmission {
        guard bearerLimit > 0, security != nil else { return .refused(.spsmNotSupported) }
        if let refusal = ChannelRequirement.encrypted.refusal(on: links.at[slot].endpoint.security) {
            return .refused(refusal)
        }
        return .accepted(bearerParameters, limit: links.at[slot].enhanced.room(of: bearerLimit))
    }

    /// The link is encrypted now, or not any more.
    mutating func encryptionSettled(_ isEncrypted: Bool, _ slot: Int, at now: Instant) {
        guard !isEncrypted else { return beginBearers(slot, at: now) }
        let bearers = links.at[slot].enhanced.bearers
        for bearer in bearers { closeBearer(bearer, slot, at: now) }
        if let channel = links.at[slot].enhanced.requested { links.at[slot].signalling.channels.abandon(channel) }
        links.at[slot].enhanced.requested = nil
        links.at[slot].enhanced.deadline = nil
        // Where the peer is being asked about its features, the answer leads nowhere.
        if links.at[slot].enhanced.operation == nil { links.at[slot].enhanced.step = .idle }
    }

    // MARK: - Asking

    /// Finds out whether the peer has bearers, where this host's caller uses its server.
    mutating func beginBearers(_ slot: Int, at now: Instant) {
        guard links.at[slot].enhanced.step == .idle, links.at[slot].enhanced.isClientUsed, bearerLimit > 0,
            security != nil, links.at[slot].endpoint.security.isEncrypted, links.at[slot].life.isOpen
        else { return }
        ask(.readByUUID(.serverSupportedFeatures), .readingServerFeatures, slot, at: now)
    }

    private mutating func ask(
        _ operation: GATTClientOperation, _ step: EnhancedBearers.Step, _ slot: Int, at now: Instant
    ) {
        links.at[slot].enhanced.step = .done
        openFrame()
        let id = try? links.at[slot].endpoint.start(operation, on: .first, at: now, into: &outbox.writer)
        closeFrame(slot, .attributeProtocol)
        if let id { links.at[slot].enhanced.began(id, step) }
    }

    /// An operation of the host's own has ended.
    mutating func continueBearers(_ slot: Int, at now: Instant) {
        guard let ended = links.at[slot].enhanced.takeEnded() else { return }
        let step = links.at[slot].enhanced.step
        links.at[slot].enhanced.step = .done
        switch (step, ended) {
        case (.readingServerFeatures, .success(.values(let values))):
            // Bit 0 of the first octet (Part G, 7.4).
            guard let features = values.first?.value.first, features & 1 != 0 else { return }
            ask(.readByUUID(.clientSupportedFeatures), .readingClientFeatures, slot, at: now)
        case (.readingClientFeatures, .success(.values(let values))):
            // Bits that are set stay set (7.2).
            guard let known = values.first else { return openBearers(slot, at: now) }
            var octets = known.value.isEmpty ? [0] : known.value
            let own: GATTClientSupportedFeatures = [.enhancedATTBearer, .multipleHandleValueNotifications]
            guard octets[0] & own.rawValue != own.rawValue else { return openBearers(slot, at: now) }
            octets[0] |= own.rawValue
            ask(.write(known.handle, octets), .writingClientFeatures, slot, at: now)
        case (.readingClientFeatures, .failure), (.writingClientFeatures, _):
            // The peer offers them all the same.
            openBearers(slot, at: now)
        default: return
        }
    }

    /// Asks for a bearer, where one more is wanted: the peer may have opened some.
    ///
    /// For one at a time. A server that answers a request for several may name its channels in another order than it was asked
    /// for them, as Linux did for years, and then answers over another bearer than it was asked on.
    mutating func openBearers(_ slot: Int, at now: Instant) {
        links.at[slot].enhanced.step = .done
        links.at[slot].enhanced.deadline = nil
        let mayAsk = links.at[slot].enhanced.requestCount < bearerLimit + EnhancedBearers.maximumCollisions
        guard mayAsk, links.at[slot].enhanced.room(of: bearerLimit) > 0, links.at[slot].signalling.channels.room > 0,
            links.at[slot].life.isOpen, links.at[slot].endpoint.security.isEncrypted
        else { return }
        openFrame()
        let requested = try? links.at[slot].signalling.openChannels(
            1, to: SPSM.enhancedATT, bearerParameters, at: now, into: &outbox.writer)
        closeFrame(slot, .leSignalling)
        guard let requested else { return }
        links.at[slot].enhanced.asked(for: requested[0])
    }

    /// The peer has answered about the channel it was asked for.
    private mutating func bearerAnswered(isOpen: Bool, _ slot: Int, at now: Instant) {
        links.at[slot].enhanced.requested = nil
        guard links.at[slot].enhanced.step == .opening else { return }
        if isOpen { return openBearers(slot, at: now) }
        links.at[slot].enhanced.step = .done
        guard links.at[slot].enhanced.hasPeerAsked, links.at[slot].enhanced.hasPeerRefused else { return }
        // Both have asked at once, and both have refused. A central may ask again at once; a peripheral waits until the
        // central can have done so (Part G, 5.4).
        guard links.at[slot].role == .peripheral else { return openBearers(slot, at: now) }
        let parameters = links.at[slot].parameters
        let pause = max(.milliseconds(100), parameters.interval * 2 * (Int(parameters.latency) + 1))
        links.at[slot].enhanced.deadline = now.advanced(by: pause)
        links.at[slot].enhanced.step = .waiting
    }

    // MARK: - Coming and going

    /// Takes an event of a channel that carries a bearer. False where it carries none.
    mutating func takeBearerEvent(_ change: ChannelEvent, _ slot: Int, at now: Instant) -> Bool {
        switch change {
        case .opened(let id, let opener):
            guard let channel = links.at[slot].signalling.channels[id], channel.spsm == SPSM.enhancedATT else {
                return false
            }
            let mtu = min(Int(channel.local.mtu), Int(channel.peerMTU))
            links.at[slot].endpoint.open(ATTBearer(channelMTU: mtu), as: AttributeChannel.ID(id))
            links.at[slot].enhanced.add(id)
            if opener == .thisDevice { bearerAnswered(isOpen: true, slot, at: now) }
        case .openingFailed(let id, let failure):
            guard links.at[slot].enhanced.requested == id else { return false }
            if failure == .refused(.noResourcesAvailable) { links.at[slot].enhanced.hasPeerRefused = true }
            bearerAnswered(isOpen: false, slot, at: now)
        case .closed(let id, let end):
            guard links.at[slot].enhanced.bearers.contains(id) else { return false }
            if case .violated = end { faults.count(.channelViolated) }
            endBearer(id, slot, at: now)
        case .limitsChanged(let id):
            guard links.at[slot].enhanced.bearers.contains(id),
                let channel = links.at[slot].signalling.channels[id]
            else { return false }
            let mtu = min(Int(channel.local.mtu), Int(channel.peerMTU))
            links.at[slot].endpoint.setMTU(mtu, of: AttributeChannel.ID(id))
        case .reconfigured: return false
        }
        return true
    }

    /// Closes a bearer. Nothing that waits there is worth sending any more.
    mutating func closeBearer(_ bearer: CreditBasedChannel.ID, _ slot: Int, at now: Instant) {
        links.at[slot].signalling.channels.abandon(bearer)
        endBearer(bearer, slot, at: now)
        settleChannels(slot, at: now)
    }

    /// A bearer is closed. Operations that were under way on it fail, and what the peer has asked there needs no answer.
    private mutating func endBearer(_ bearer: CreditBasedChannel.ID, _ slot: Int, at now: Instant) {
        links.at[slot].enhanced.remove(bearer)
        let request = links.at[slot].endpoint.close(AttributeChannel.ID(bearer))
        let link = links.at[slot].identifier
        if let request { events.append(.server(link, .requestExpired(ServerRequest(link: link, token: request)))) }
        // Where this host is a client, the peer may have had values for it that nothing else says are missing.
        if links.at[slot].enhanced.isClientUsed, links.at[slot].life.isOpen, links.at[slot].life.isAnnounced {
            events.append(.link(link, .lost(.bearerClosed)))
        }
        drainClient(slot)
    }

    // MARK: - PDUs

    /// Takes a PDU from a bearer.
    @inline(__always)
    mutating func receivePDU(_ pdu: Span<UInt8>, on bearer: AttributeChannel.ID, _ slot: Int, at now: Instant) {
        if !receiveNotification(pdu, slot, on: bearer, at: now) { receiveOther(pdu, on: bearer, slot, at: now) }
    }

    @inline(never)
    private mutating func receiveOther(
        _ pdu: Span<UInt8>, on bearer: AttributeChannel.ID, _ slot: Int, at now: Instant
    ) {
        receiveAttribute(pdu, slot, on: bearer, at: now)
        if links.at[slot].enhanced.overwhelmed != nil { endOverwhelmedBearer(slot, at: now) }
        endIfOverwhelmed(slot, at: now)
    }

    /// Closes the bearer whose answers do not fit any more.
    @inline(never)
    mutating func endOverwhelmedBearer(_ slot: Int, at now: Instant) {
        guard let channel = links.at[slot].enhanced.overwhelmed else { return }
        links.at[slot].enhanced.overwhelmed = nil
        guard links.at[slot].enhanced.bearers.contains(channel) else { return }
        faults.count(.channelViolated)
        closeBearer(channel, slot, at: now)
    }

    /// The length of an SDU, in front of it.
    private static var sduHeadroom: Int { Link.sduHeadroom }

    /// Leaves room for the headers of a frame on a bearer. On an enhanced one that is a K-frame with the length of its SDU.
    @inline(__always)
    mutating func openFrame(on bearer: AttributeChannel.ID) {
        openFrame()
        if bearer != .first { outbox.writer.leaveRoom(for: Self.sduHeadroom) }
    }

    /// Sends the PDU in the frame opened last over a bearer. Without a PDU it is forgotten.
    @inline(__always)
    mutating func closeFrame(_ slot: Int, on bearer: AttributeChannel.ID) {
        if bearer == .first { closeFrame(slot, .attributeProtocol) } else { closeEnhancedFrame(slot, bearer) }
    }

    @inline(never)
    private mutating func closeEnhancedFrame(_ slot: Int, _ bearer: AttributeChannel.ID) {
        let length = openPayloadCount &- Self.sduHeadroom
        guard length > 0, links.at[slot].isInUse else { return outbox.rollback() }
        guard let remote = links.at[slot].takeCredit(forWhole: length, on: bearer, flow.canSend) else {
            return sendInParts(length, slot, bearer.channel)
        }
        closeFrame(slot, to: remote, sduLength: length)
    }

    /// Sends the notification in the frame opened last, which is longer than a K-frame, or has to wait. False where too much
    /// waits on its bearer: nothing was sent.
    @inline(never)
    mutating func closeWaitingNotification(_ slot: Int, on bearer: AttributeChannel.ID) -> Bool {
        guard links.at[slot].signalling.channels.hasRoom(on: bearer.channel, limit: valueLimit) else {
            outbox.rollback()
            return false
        }
        sendInParts(openPayloadCount &- Self.sduHeadroom, slot, bearer.channel)
        return true
    }

    /// How notifications that wait on a channel are put together; nil where it is no bearer, or the client does not understand
    /// that.
    mutating func notificationJoining(_ slot: Int, over channel: CreditBasedChannel.ID) -> CreditBasedChannel
        .SDUJoining?
    {
        guard joinsNotifications(slot), links.at[slot].enhanced.bearers.contains(channel),
            let mtu = links.at[slot].endpoint.bearer(of: AttributeChannel.ID(channel))?.mtu
        else { return nil }
        return { queue, limit, writer in
            let count = queue.joinableNotifications(behind: .none, limit: min(limit, mtu))
            if count > 0 { queue.joinNotifications(count, behind: .none, into: &writer) }
        }
    }

    /// Sends a PDU that is longer than a K-frame, or has to wait. It is never refused: it may be an answer.
    private mutating func sendInParts(_ length: Int, _ slot: Int, _ channel: CreditBasedChannel.ID) {
        var pdu = ByteWriter(reservingCapacity: length)
        pdu.append(outbox.writer.span.extracting(last: length))
        outbox.rollback()
        guard let frames = links.at[slot].signalling.channels.readyFrames(on: channel) else { return }
        guard links.at[slot].signalling.channels.waitingCount(on: channel) < valueLimit &+ Link.answerReserve else {
            links.at[slot].enhanced.overwhelmed = channel
            return
        }
        transmit(pdu.span, frames, over: channel, slot)
    }
}
