import BluetoothAdapter
import BluetoothHost
import BluetoothL2CAP
import BluetoothUsers
import Synchronization

extension Connection {
    /// Opens an L2CAP channel to a service of the peer.
    ///
    /// If the peer requires encryption or pairing, the link is encrypted or paired first, provided that the adapter has
    /// a pairing agent.
    ///
    /// - Parameters:
    ///   - psm: the service's SPSM, 0x0001 to 0x00FF.
    ///   - parameters: what this side accepts. The default suits a stream of any speed.
    /// - Throws: `.channelRefused` with the peer's reason, `.invalidParameters`, the reason why the link ended, or
    ///   `.cancelled`.
    public func openChannel(
        to psm: UInt16, parameters: ChannelParameters = ChannelParameters()
    ) async throws(BluetoothError) -> L2CAPChannel {
        let opened = try await open(psm, parameters, count: nil)
        guard let channel = opened.first else { throw .channelClosed(.byPeer) }
        return channel
    }

    /// Opens several enhanced L2CAP channels to a service of the peer at once. Enhanced channels can be reconfigured.
    ///
    /// - Parameters:
    ///   - count: the number of channels, 1 to 5. The peer may open fewer.
    ///   - psm: the service's SPSM, 0x0001 to 0x00FF.
    ///   - parameters: what this side accepts on each channel. MTU and MPS must be 64 or more.
    /// - Returns: the channels that the peer has opened, at least one.
    /// - Throws: the errors of `openChannel`.
    public func openChannels(
        _ count: Int, to psm: UInt16, parameters: ChannelParameters = ChannelParameters()
    ) async throws(BluetoothError) -> [L2CAPChannel] {
        let opened = try await open(psm, parameters, count: count)
        guard !opened.isEmpty else { throw .channelClosed(.byPeer) }
        return opened
    }

    /// Opens channels, and returns those that have not been closed in the meantime.
    private func open(
        _ psm: UInt16, _ parameters: ChannelParameters, count: Int?
    ) async throws(BluetoothError) -> [L2CAPChannel] {
        let call = HostCall.Kind.channel(link.identifier, .open(psm: psm, parameters, count: count))
        guard case .channels(_, let opened) = try await router.call(call, on: link) else { throw .cancelled }
        let streams = link.state.withLock { state in opened.compactMap { state.channel($0.id) } }
        if streams.isEmpty { try router.check(link) }
        return streams.map { L2CAPChannel(self, $0) }
    }
}

extension Adapter {
    /// Offers a service over L2CAP channels to every peer that connects.
    ///
    /// - Parameters:
    ///   - psm: the service's SPSM. With nil, the host chooses a free one from the dynamic range, 0x0080 to 0x00FF.
    ///   - requirement: the protection that a link must have.
    ///   - parameters: what this side accepts on each channel.
    /// - Throws: `.tooManyPending` if the SPSM is in use or none is free; `.invalidParameters` if `parameters` or the
    ///   SPSM is invalid. 0x0027, the SPSM of the Enhanced Attribute Protocol, counts as invalid.
    public func listen(
        on psm: UInt16? = nil, requirement: ChannelRequirement = .none,
        parameters: ChannelParameters = ChannelParameters()
    ) async throws(BluetoothError) -> ChannelService {
        try router.check()
        let queue = AsyncQueue<L2CAPChannel>(capacity: ChannelService.capacity, overflow: .dropNewest)
        // Before any peer can open a channel to it. An SPSM that has not been chosen yet is not known to any peer.
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

/// A service offered over L2CAP channels: a sequence of the channels that peers open. The service is offered as long as
/// a copy of this value exists.
public struct ChannelService: AsyncSequence, Sendable {
    /// A channel that a peer has opened to the service.
    public typealias Element = L2CAPChannel
    /// The error type: the reason why the adapter was closed, or `.cancelled` when the task is cancelled.
    public typealias Failure = BluetoothError

    /// The service's SPSM. Peers must learn it in some other way, for example from a characteristic.
    public let psm: UInt16
    let channels: EventSequence<L2CAPChannel>

    /// The number of channels that wait to be taken. Further channels that a peer opens are closed.
    static let capacity = 64

    /// Creates an iterator over the channels that no iterator has returned yet. Each channel goes to only one iterator.
    public func makeAsyncIterator() -> EventSequence<L2CAPChannel>.AsyncIterator { channels.makeAsyncIterator() }
}

// MARK: - Events

extension EventRouter {
    /// A channel is open. Octets that it receives have a destination from now on.
    func add(_ id: CreditBasedChannel.ID, _ information: ChannelInformation, of identifier: LinkIdentifier) {
        guard let link = link(identifier) else { return }
        let stream = ChannelStream(id, identifier, information, self)
        link.state.withLock { state in
            if state.end == nil { state.channels.append(stream) }
        }
    }

    func handle(_ event: UserEvent.Channel, of identifier: LinkIdentifier) {
        guard let link = link(identifier) else { return }
        switch event {
        case .received: return
        case .credit(let id, let count): link.state.withLock { $0.channel(id) }?.give(count)
        case .opened(let id, let information):
            add(id, information, of: identifier)
            let queue = state.withLock { $0.channelQueues[information.psm] }
            guard let queue, let connection = connection(link), let stream = link.state.withLock({ $0.channel(id) })
            else {
                post(.channel(identifier, .close(id, isAbrupt: true)))
                return
            }
            // A channel that does not fit into the queue is released, which closes it.
            queue.push(L2CAPChannel(connection, stream))
        // The end of the link follows, with its reason.
        case .closed(_, .linkEnded): return
        case .closed(let id, let end):
            let closed = link.state.withLock { state in
                state.channels.firstIndex { $0.id == id }.map { state.channels.remove(at: $0) }
            }
            guard let stream = closed else { return }
            let isPlain = end == .byPeer || end == .byThisDevice
            stream.end(.channelClosed(end), reading: isPlain ? nil : .channelClosed(end))
        }
    }
}
