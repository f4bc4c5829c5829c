import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import BluetoothL2CAP
import BluetoothUsers
import Synchronization

/// A stream of octets to a peer and back, over an L2CAP channel (Core 5.4, Vol 3, Part A, 3.4).
///
///     let channel = try await connection.openChannel(to: psm)
///     try await channel.write(Array("hello".utf8))
///     for try await octets in channel { … }
///
/// Received octets wait for their reader. If the reader takes nothing, the peer has to wait after some kilobytes, and
/// nothing is lost. In the other direction, `write` waits for the peer.
///
/// The channel lasts until either side closes it or the link ends. Releasing the last reference closes it.
public final class L2CAPChannel: Sendable, AsyncSequence {
    /// The link that the channel belongs to.
    public let connection: Connection
    /// The SPSM of the channel's service.
    public var psm: UInt16 { stream.information.psm }
    /// The limits of the channel in each direction. `read` and `write` observe them automatically.
    public var information: ChannelInformation { stream.information }

    @usableFromInline let stream: ChannelStream

    init(_ connection: Connection, _ stream: ChannelStream) {
        self.connection = connection
        self.stream = stream
    }

    deinit { stream.close(isAbrupt: false) }

    /// Sends octets, after those of earlier calls. Suspends while the peer or the link accepts no more, and returns
    /// when all octets are on their way. If the task is cancelled, some of the octets may have been sent.
    ///
    /// - Throws: `.channelClosed`, the reason why the link ended, or `.cancelled`.
    @inlinable
    public func write(_ octets: some Collection<UInt8>) async throws(BluetoothError) {
        let octets = Array(octets)
        // Compiled into the caller, because an asynchronous call costs more than sending an SDU does.
        if stream.sendAtOnce(octets) { return }
        try await write(all: octets)
    }

    @usableFromInline
    func write(all octets: [UInt8]) async throws(BluetoothError) {
        let longest = stream.sduLength
        var start = 0
        while start < octets.count {
            let end = Swift.min(octets.count, start + longest)
            try await stream.takeCredit()
            // Octets that fit into one SDU are not copied.
            let sdu = octets.count <= longest ? octets : Array(octets[start..<end])
            guard stream.post(.send(stream.id, sdu)) else { throw stream.router.closure }
            start = end
        }
    }

    /// Returns the next octets from the peer, from one SDU or from several that arrived together. Returns nil after
    /// this side has closed the channel, or when the peer has closed it and all octets have been read.
    ///
    /// - Throws: the reason why the link ended; `.channelClosed` if the peer violated the protocol of the channel or
    ///   data was lost in this device; or `.cancelled`.
    @inlinable
    public func read() async throws(BluetoothError) -> [UInt8]? { try await stream.received.next()?.octets }

    /// Closes the channel after everything written has been sent, and waits until the peer confirms the end. The peer
    /// has then received everything. Octets that were received but not read are dropped.
    ///
    /// - Throws: the reason why the link ended, even if it ended before the call, because written octets may be lost;
    ///   `.channelClosed` if the peer closes the channel in the meantime, or closed it before everything written had
    ///   been sent; or `.cancelled`. Does not throw for a channel that was closed in another way.
    public func close() async throws(BluetoothError) { try await stream.closeAndWait() }

    /// Changes the limits for SDUs and K-frames from the peer. Only enhanced channels can be reconfigured.
    ///
    /// - Parameters:
    ///   - mtu: the longest SDU in octets. It must not be shorter than before.
    ///   - mps: the longest payload of a K-frame in octets, 64 or more. It may be shorter than before.
    /// - Throws: `.channelReconfigurationFailed` with the peer's reason, `.invalidParameters`, `.channelClosed`,
    ///   `.tooManyPending` while an earlier request waits for its response, the reason why the link ended, or
    ///   `.cancelled`.
    public func reconfigure(mtu: UInt16, mps: UInt16) async throws(BluetoothError) {
        try stream.router.check(connection.link)
        stream.willReconfigure(mps: mps)
        let call = HostCall.Kind.channel(stream.link, .reconfigure(stream.id, mtu: mtu, mps: mps))
        _ = try await stream.router.call(call, on: connection.link)
    }

    /// Reads received octets, and retains the channel. Iterators share the buffer: each octet goes to only one of them.
    public struct AsyncIterator: AsyncIteratorProtocol {
        @usableFromInline let channel: L2CAPChannel

        init(channel: L2CAPChannel) { self.channel = channel }

        /// See `L2CAPChannel.read()`.
        @inlinable
        @inline(__always)
        public mutating func next() async throws(BluetoothError) -> [UInt8]? {
            try await channel.stream.received.next()?.octets
        }

        /// See `L2CAPChannel.read()`. The caller keeps its isolation.
        @inlinable
        @inline(__always)
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(BluetoothError) -> [UInt8]? {
            try await channel.stream.received.next(isolation: actor)?.octets
        }
    }

    /// The error type. `read()` lists the errors that iteration throws.
    public typealias Failure = BluetoothError

    /// Creates an iterator over the received octets that were not read yet. It ends as described for `read()`.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(channel: self) }
}

/// Octets from the peer that wait for the reader.
@usableFromInline
struct ReceivedOctets: Sendable {
    @usableFromInline let octets: [UInt8]
    /// Their share of the channel's window.
    let share: Int
}

/// The state of a channel in this API. It does not retain the application's `Adapter`.
@usableFromInline
final class ChannelStream: Sendable {
    struct State {
        var awaitingEnd: [CallToken] = []
        /// The error that calls throw after the channel was closed.
        var end: BluetoothError?
        /// Whether some of the written octets had not been sent when the channel was closed.
        var hasLostData = false
    }

    let id: CreditBasedChannel.ID
    let link: LinkIdentifier
    let information: ChannelInformation
    let router: EventRouter
    @usableFromInline let received: AsyncQueue<ReceivedOctets>
    private let consumption: Consumption
    /// The number of SDUs that may be sent, and the calls that wait to send one.
    private let credits = CreditLine(count: SharedHost.channelCredit)
    private let state = Mutex(State())

    /// The maximum length of a sent SDU, even if the peer accepts longer ones, so that the amount of data in flight
    /// stays small.
    private static let longestSDU = 8192
    var sduLength: Int { min(Int(information.peerMTU), Self.longestSDU) }

    init(_ id: CreditBasedChannel.ID, _ link: LinkIdentifier, _ information: ChannelInformation, _ router: EventRouter)
    {
        self.id = id
        self.link = link
        self.information = information
        self.router = router
        let consumption = Consumption(id, link, information, router)
        self.consumption = consumption
        // The peer's credits keep the queue shorter than that.
        received = AsyncQueue(
            capacity: information.greatestWaitingCount, overflow: .fail, onTake: { consumption.add($0.share) })
    }

    /// Buffers octets from the peer for the reader.
    func receive(_ octets: borrowing Span<UInt8>, share: Int) {
        if received.push(ReceivedOctets(octets: Array(copy octets), share: share)) { return }
        if received.isOverflown { return close(isAbrupt: true) }
        // If the sequence has been abandoned, its octets count as consumed.
        consumption.add(share)
    }

    func willReconfigure(mps: UInt16) { consumption.willReconfigure(mps: mps) }

    /// Reports to the adapter what has been read.
    private final class Consumption: Sendable {
        private let id: CreditBasedChannel.ID
        private let link: LinkIdentifier
        private weak let router: EventRouter?
        private let octets: Mutex<ConsumedOctets>

        init(
            _ id: CreditBasedChannel.ID, _ link: LinkIdentifier, _ information: ChannelInformation,
            _ router: EventRouter
        ) {
            self.id = id
            self.link = link
            self.router = router
            octets = Mutex(ConsumedOctets(information))
        }

        func add(_ share: Int) { report(octets.withLock { $0.add(share: share) }) }

        func willReconfigure(mps: UInt16) { report(octets.withLock { $0.reconfigure(mps: mps) }) }

        private func report(_ share: Int?) {
            if let share { router?.post(.channel(link, .consume(id, share: share))) }
        }
    }

    var isClosed: Bool { state.withLock { $0.end != nil } }

    @discardableResult
    func post(_ call: ChannelCall) -> Bool { router.post(.channel(link, call)) }

    /// Sends octets as one SDU if that needs no waiting. Returns false if nothing was sent.
    @usableFromInline
    func sendAtOnce(_ octets: [UInt8]) -> Bool {
        guard !octets.isEmpty, octets.count <= sduLength, !Task.isCancelled, credits.take() else { return false }
        // If the adapter is closed, its credits do not matter. `write` throws the reason.
        return post(.send(id, octets))
    }

    func takeCredit() async throws(BluetoothError) {
        if Task.isCancelled { throw .cancelled }
        if credits.take() { return }
        try await router.waitForCredit(in: credits) { state.withLock { $0.end } }
    }

    /// Returns the credits of SDUs that have been sent.
    func give(_ count: Int) { credits.add(count) }

    func close(isAbrupt: Bool) {
        guard state.withLock({ $0.end == nil }) else { return }
        post(.close(id, isAbrupt: isAbrupt))
    }

    func closeAndWait() async throws(BluetoothError) {
        guard let token = router.calls.insert(.beginning(nil)) else { throw router.closure }
        received.abandon()
        try await router.wait(as: token, isCall: false) {
            let (end, hasLostData) = state.withLock { state in
                if state.end == nil { state.awaitingEnd.append(token) }
                return (state.end, state.hasLostData)
            }
            switch end {
            case nil: post(.close(id, isAbrupt: false))
            case let error? where error.code == .channelClosed && !hasLostData: router.resume(token, .success(.done))
            case let error?: router.resume(token, .failure(error))
            }
            return true
        }
    }

    /// Ends the channel, which was closed or whose link has ended.
    ///
    /// - Parameter reading: the error for the reader after the buffered octets; nil for a normal end.
    func end(_ error: BluetoothError, reading: BluetoothError?) {
        let ended = state.withLock { state -> (State, [any CreditWaiter])? in
            guard state.end == nil else { return nil }
            let (waiters, count) = credits.close()
            defer { state = State(end: error, hasLostData: count < SharedHost.channelCredit) }
            return (state, waiters)
        }
        guard let (old, senders) = ended else { return }
        for sender in senders { sender.fail(error) }
        // If this device closed the channel, everything has arrived, or the code that closed it abruptly expects a
        // loss.
        let isAsWished = error == .channelClosed(.byThisDevice)
        for token in old.awaitingEnd { router.resume(token, isAsWished ? .success(.done) : .failure(error)) }
        received.finish(reading)
    }
}
