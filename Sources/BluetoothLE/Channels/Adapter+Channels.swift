import BluetoothAdapter
import BluetoothHost
import BluetoothL2CAP
import BluetoothUsers
import Synchronization

extension Connection {
    /// Opens an L2CAP channel to a service of the peer.
    ///
    /// Where the peer demands that the link be encrypted, or paired, that is done first, if a pairing agent is there.
    ///
    /// - Parameters:
    ///   - psm: the service's SPSM, 0x0001 to 0x00FF.
    ///   - parameters: what this side takes; the default suits a stream of any speed.
    /// - Throws: `.channelRefused` with the peer's reason, `.invalidParameters`, why the link ended, or `.cancelled`.
    public func openChannel(
        to psm: UInt16, _ parameters: ChannelParameters = ChannelParameters()
    ) async throws(BluetoothError) -> L2CAPChannel {
        let opened = try await open(psm, parameters, count: nil)
        guard let channel = opened.first else { throw .channelClosed(.byPeer) }
        return channel
    }

    /// Opens several enhanced L2CAP channels to a service of the peer at once: channels that can be reconfigured.
    ///
    /// - Parameters:
    ///   - count: how many, 1 to 5. The peer may open fewer.
    ///   - psm: the service's SPSM, 0x0001 to 0x00FF.
    ///   - parameters: what this side takes on each; MTU and MPS of 64 or more.
    /// - Returns: those that the peer has opened, at least one.
    /// - Throws: as `openChannel`.
    public func openChannels(
        _ count: Int, to psm: UInt16, _ parameters: ChannelParameters = ChannelParameters()
    ) async throws(BluetoothError) -> [L2CAPChannel] {
        let opened = try await open(psm, parameters, count: count)
        guard !opened.isEmpty else { throw .channelClosed(.byPeer) }
        return opened
    }

    /// Those that have not been closed since.
    private func open(
        _ psm: UInt16, _ parameters: ChannelParameters, count: Int?
    ) async throws(BluetoothError) -> [L2CAPChannel] {
        try router.check(link)
        let call = HostCall.Kind.channel(link.identifier, .open(psm: psm, parameters, count: count))
        guard case .channels(_, let opened) = try await router.call(call) else { throw .cancelled }
        let streams = link.state.withLock { state in opened.compactMap { state.channels[$0.id] } }
        if streams.isEmpty { try router.check(link) }
        return streams.map { L2CAPChannel(self, $0) }
    }
}

extension Adapter {
    /// Offers a service over L2CAP channels, to every peer that connects.
    ///
    /// - Parameters:
    ///   - psm: its SPSM; nil for a free one of those that devices assign by themselves, 0x0080 to 0x00FF.
    ///   - requirement: how well a link has to be protected.
    ///   - parameters: what this side takes on each channel.
    /// - Throws: `.tooManyPending` if the SPSM is taken, or none is free; `.invalidParameters`, also for 0x0027, which is that
    ///   of the Enhanced Attribute Protocol.
    public func listen(
        on psm: UInt16? = nil, requirement: ChannelRequirement = .none,
        _ parameters: ChannelParameters = ChannelParameters()
    ) async throws(BluetoothError) -> ChannelService {
        try router.check()
        let queue = AsyncQueue<L2CAPChannel>(capacity: ChannelService.capacity, overflow: .dropNewest)
        // Before anybody can open a channel to it. Nobody knows a number yet that is still to be chosen.
        if let psm,
            router.state.withLock({ state in
                if state.channelQueues[psm] == nil { state.channelQueues[psm] = queue }
                return state.channelQueues[psm] !== queue
            })
        {
            throw .tooManyPending
        }
        let number: UInt16
        do throws(BluetoothError) {
            let listener = ChannelListener(parameters: parameters, requirement: requirement)
            guard case .listening(let listened) = try await router.call(.listen(psm, listener)) else {
                throw .cancelled
            }
            number = listened
        } catch {
            if let psm { _ = router.state.withLock { $0.channelQueues.removeValue(forKey: psm) } }
            throw error
        }
        router.state.withLock { $0.channelQueues[number] = queue }
        let sequence = EventSequence(queue) { [weak router] in
            _ = router?.state.withLock { $0.channelQueues.removeValue(forKey: number) }
            router?.post(.stopListening(number))
        }
        return ChannelService(psm: number, channels: sequence)
    }
}

/// A service that is offered over L2CAP channels: the channels that peers open, one after the other. It is offered for as long
/// as a copy of this exists.
public struct ChannelService: AsyncSequence, Sendable {
    public typealias Element = L2CAPChannel
    public typealias Failure = BluetoothError

    /// Its SPSM, for peers to learn by some other way, such as a characteristic.
    public let psm: UInt16
    let channels: EventSequence<L2CAPChannel>

    /// How many channels wait to be taken; what a peer opens beyond that is closed.
    static let capacity = 64

    public func makeAsyncIterator() -> EventSequence<L2CAPChannel>.AsyncIterator { channels.makeAsyncIterator() }
}

// MARK: - Events

extension EventRouter {
    /// A channel is open: what comes over it has a place from now on.
    func add(_ id: CreditBasedChannel.ID, _ information: ChannelInformation, of identifier: LinkIdentifier) {
        guard let link = link(identifier) else { return }
        let stream = ChannelStream(id, identifier, information, self)
        link.state.withLock { state in
            if state.end == nil { state.channels[id] = stream }
        }
    }

    @inline(__always)
    func received(_ octets: borrowing Span<UInt8>, on channel: CreditBasedChannel.ID, of identifier: LinkIdentifier) {
        guard let link = link(identifier), let stream = link.state.withLock({ $0.channels[channel] }) else { return }
        if !octets.isEmpty, stream.received.push(Array(copy octets)) { return }
        if stream.received.isOverflown { return stream.close(isAbrupt: true) }
        // The octets of a sequence that has been abandoned count as taken.
        stream.post(.consume(channel, octets.count))
    }

    func handle(_ event: UserEvent.Channel, of identifier: LinkIdentifier) {
        guard let link = link(identifier) else { return }
        switch event {
        case .received: return
        case .credit(let id, let count): link.state.withLock { $0.channels[id] }?.give(count)
        case .opened(let id, let information):
            add(id, information, of: identifier)
            let queue = state.withLock { $0.channelQueues[information.psm] }
            guard let queue, let connection = connection(link), let stream = link.state.withLock({ $0.channels[id] })
            else {
                post(.channel(identifier, .close(id, isAbrupt: true)))
                return
            }
            // One that does not fit closes itself.
            queue.push(L2CAPChannel(connection, stream))
        // The end of the link follows, with its reason.
        case .closed(_, .linkEnded): return
        case .closed(let id, let end):
            guard let stream = link.state.withLock({ $0.channels.removeValue(forKey: id) }) else { return }
            let isPlain = end == .byPeer || end == .byThisDevice
            stream.end(.channelClosed(end), reading: isPlain ? nil : .channelClosed(end))
        }
    }
}
