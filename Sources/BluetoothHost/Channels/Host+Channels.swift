import BluetoothBase
import BluetoothL2CAP

/// Credit-based channels: the services on offer, and how channels are opened and closed (Core 5.4, Vol 3, Part A, 4.22
/// to 4.28).
extension Host {
    // MARK: Listening

    /// Offers a service over channels, on all links. `HostEvent.Channel.opened` follows for each channel that a peer
    /// opens.
    ///
    /// - Parameter psm: the SPSM; nil for a free one of the dynamic range (0x0080 to 0x00FF).
    /// - Returns: the SPSM.
    /// - Throws: `.invalidParameters` if the SPSM is invalid or that of the Enhanced Attribute Protocol, or if the
    ///   parameters of `listener` are; `.busy` if the SPSM is taken, or if none is free.
    public mutating func listen(on psm: UInt16?, listener: ChannelListener) throws(HostError) -> UInt16 {
        guard let psm = psm ?? SPSM.dynamic.first(where: { channelListeners[$0] == nil }) else { throw .busy }
        guard SPSM.all.contains(psm), psm != SPSM.enhancedATT, listener.parameters.mps <= Self.greatestMPS,
            listener.parameters.window > 0,
            listener.parameters.mtu >= 64, listener.parameters.mps >= 64
        else { throw .invalidParameters }
        guard channelListeners[psm] == nil else { throw .busy }
        channelListeners[psm] = listener
        return psm
    }

    /// Stops offering a service. Open channels stay open.
    public mutating func stopListening(on psm: UInt16) { channelListeners[psm] = nil }

    /// The maximum MPS: a K-frame has room for any PDU of the Attribute Protocol.
    public static let greatestMPS = UInt16(Link.maximumMTU)

    // MARK: Opening and closing

    /// Requests an LE credit-based channel to a service from a peer. `HostEvent.Channel.opened` or `.openingFailed`
    /// follows.
    public mutating func openChannel(
        to psm: UInt16, parameters: ChannelParameters = ChannelParameters(), on link: LinkIdentifier, at now: Instant
    ) throws(HostError) -> CreditBasedChannel.ID {
        let slot = try slot(of: link, for: parameters)
        guard psm != SPSM.enhancedATT else { throw .invalidParameters }
        return try request(slot) { signalling, writer throws(ChannelRequestError) in
            try signalling.openChannel(to: psm, parameters: parameters, at: now, into: &writer)
        }
    }

    /// Requests one to five enhanced credit-based channels at once from a peer. `HostEvent.Channel.opened` or
    /// `.openingFailed` follows for each of them.
    public mutating func openChannels(
        _ count: Int, to psm: UInt16, parameters: ChannelParameters = ChannelParameters(), on link: LinkIdentifier,
        at now: Instant
    ) throws(HostError) -> [CreditBasedChannel.ID] {
        let slot = try slot(of: link, for: parameters)
        guard psm != SPSM.enhancedATT else { throw .invalidParameters }
        return try request(slot) { signalling, writer throws(ChannelRequestError) in
            try signalling.openChannels(count, to: psm, parameters: parameters, at: now, into: &writer)
        }
    }

    /// Raises the MTU and MPS of this host on enhanced channels. On a single channel, the MPS may also be lowered.
    /// `HostEvent.Channel.reconfigured` follows.
    public mutating func reconfigure(
        _ channels: [CreditBasedChannel.ID], mtu: UInt16, mps: UInt16, on link: LinkIdentifier, at now: Instant
    ) throws(HostError) {
        let slot = try slot(of: link, for: ChannelParameters(mtu: mtu, mps: mps))
        try request(slot) { signalling, writer throws(ChannelRequestError) in
            try signalling.reconfigure(channels, mtu: mtu, mps: mps, at: now, into: &writer)
        }
    }

    /// Closes a channel, or cancels its opening. `HostEvent.Channel.closed` or `.openingFailed` follows when the queued
    /// data has been sent, or immediately if `isAbrupt` is true.
    public mutating func closeChannel(
        _ channel: CreditBasedChannel.ID, on link: LinkIdentifier, isAbrupt: Bool = false, at now: Instant
    ) {
        guard let slot = links.slot(of: link) else { return }
        links.at[slot.index].signalling.close(channel, isAbrupt: isAbrupt, at: now)
        settleChannels(slot, at: now)
    }

    /// The properties of an open channel; nil if it is closed.
    public func information(of channel: CreditBasedChannel.ID, on link: LinkIdentifier) -> ChannelInformation? {
        guard let slot = links.slot(of: link), let channel = links.at[slot.index].signalling.channels[channel] else {
            return nil
        }
        return ChannelInformation(channel)
    }

    private func slot(of link: LinkIdentifier, for parameters: ChannelParameters) throws(HostError) -> LinkSlot {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        guard parameters.mps <= Self.greatestMPS else { throw .invalidParameters }
        return slot
    }

    private mutating func request<Result>(
        _ slot: LinkSlot,
        _ body: (inout SignallingChannel, inout ByteWriter) throws(ChannelRequestError) -> Result
    ) throws(HostError) -> Result {
        openFrame()
        do throws(ChannelRequestError) {
            let result = try body(&links.at[slot.index].signalling, &outbox.writer)
            closeFrame(slot, .leSignalling)
            return result
        } catch {
            outbox.rollback()
            switch error {
            case .invalidParameters: throw .invalidParameters
            case .noRoom, .requestOutstanding: throw .busy
            case .noSuchChannel: throw .noSuchChannel
            }
        }
    }

    // MARK: Channel events

    /// Reports the events of a link's channels, and sends the signalling commands that they require.
    mutating func settleChannels(_ slot: LinkSlot, at now: Instant) {
        while links.at[slot.index].signalling.owesCommands {
            consequence = .any
            openFrame()
            links.at[slot.index].signalling.writeOwed(at: now, into: &outbox.writer)
            closeFrame(slot, .leSignalling)
        }
        guard !links.at[slot.index].signalling.channels.events.isEmpty else { return }
        consequence = .any
        let changes = links.at[slot.index].signalling.channels.events
        links.at[slot.index].signalling.channels.events.removeAll(keepingCapacity: true)
        for change in changes where !takeBearerEvent(change, slot, at: now) { report(change, slot, at: now) }
    }

    private mutating func report(_ change: ChannelEvent, _ slot: LinkSlot, at now: Instant) {
        let link = links.at[slot.index].identifier
        switch change {
        case .opened(let id, let opener):
            guard let channel = links.at[slot.index].signalling.channels[id] else { return }
            events.append(.channel(link, .opened(id, ChannelInformation(channel), by: opener)))
        case .closed(let id, let end):
            if case .violated = end { handle(.channelViolated, of: slot, at: now) }
            events.append(.channel(link, .closed(id, end)))
        case .openingFailed(let id, let failure): events.append(.channel(link, .openingFailed(id, failure)))
        case .limitsChanged(let id): events.append(.channel(link, .limitsChanged(id)))
        case .reconfigured(let ids, let failure): events.append(.channel(link, .reconfigured(ids, failure)))
        }
    }

    /// Ends the channels of a link that has ended and is no longer in the table.
    mutating func endChannels(of link: inout Link) {
        link.signalling.channels.linkEnded()
        for change in link.signalling.channels.events {
            switch change {
            case .openingFailed(let id, _) where link.negotiation.requestedChannel == id: continue
            case .closed(let id, _) where link.enhanced.bearers.contains(id): continue
            case .openingFailed(let id, _):
                events.append(.channel(link.identifier, .openingFailed(id, .cancelled)))
            case .closed(let id, let end): events.append(.channel(link.identifier, .closed(id, end)))
            case .opened, .limitsChanged, .reconfigured: continue
            }
        }
    }
}
