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
/// What has been received waits for its reader, and the peer with it: a reader that takes nothing holds it up after some
/// kilobytes, and loses nothing. The same holds for the other direction: `write` waits for the peer.
///
/// The channel lasts until either side closes it or the link ends. Releasing the last reference closes it.
public final class L2CAPChannel: Sendable, AsyncSequence {
    /// The link it belongs to.
    public let connection: Connection
    /// Its service: the SPSM.
    public var psm: UInt16 { stream.information.psm }
    /// What it carries at a time, in either direction; `read` and `write` need not care.
    public var information: ChannelInformation { stream.information }

    let stream: ChannelStream

    init(_ connection: Connection, _ stream: ChannelStream) {
        self.connection = connection
        self.stream = stream
    }

    deinit { stream.close(isAbrupt: false) }

    /// Sends octets, after those of earlier calls. Waits while the peer, or the link, does not take them; returns when all of
    /// them are on their way. Where the task is cancelled, a part of them may have been sent.
    ///
    /// - Throws: `.channelClosed`, why the link ended, or `.cancelled`.
    public func write(_ octets: [UInt8]) async throws(BluetoothError) {
        var rest = octets[...]
        while !rest.isEmpty {
            try await stream.takeCredit()
            let sdu = Array(rest.prefix(stream.sduLength))
            rest = rest.dropFirst(sdu.count)
            guard stream.post(.send(stream.id, sdu)) else { throw stream.router.closure }
        }
    }

    /// The next octets that the peer sent, as many as came at once; nil once this side has closed the channel, or the peer has
    /// and there are no more.
    ///
    /// - Throws: why the link ended, `.channelClosed` where the peer broke the rules of the channel or data was lost in this
    ///   device, or `.cancelled`.
    public func read() async throws(BluetoothError) -> [UInt8]? { try await stream.received.next() }

    /// Closes the channel once everything written has left, and waits until the peer has said that it is closed: then the peer
    /// has received all of it. What has been received and not read is dropped.
    ///
    /// - Throws: why the link ended, also where it had ended before: something written may be lost; `.channelClosed` where the
    ///   peer closes the channel meanwhile, or had closed it before all that was written had left; or `.cancelled`. Nothing for a
    ///   channel that is closed otherwise.
    public func close() async throws(BluetoothError) { try await stream.closeAndWait() }

    /// Takes longer SDUs and K-frames from now on, or shorter K-frames; on an enhanced channel only.
    ///
    /// - Parameters:
    ///   - mtu: the longest SDU, in octets, no shorter than before.
    ///   - mps: the longest payload of a K-frame, in octets, 64 or more.
    /// - Throws: `.channelReconfigurationFailed` with the peer's reason, `.invalidParameters`, `.channelClosed`,
    ///   `.tooManyPending` while an earlier request waits for its answer, why the link ended, or `.cancelled`.
    public func reconfigure(mtu: UInt16, mps: UInt16) async throws(BluetoothError) {
        try stream.router.check(connection.link)
        let call = HostCall.Kind.channel(stream.link, .reconfigure(stream.id, mtu: mtu, mps: mps))
        _ = try await stream.router.call(call)
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let channel: L2CAPChannel

        /// As `read`.
        public mutating func next() async throws(BluetoothError) -> [UInt8]? { try await channel.read() }

        /// As `read`; the caller keeps its isolation.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(BluetoothError) -> [UInt8]? {
            try await channel.stream.received.next(isolation: actor)
        }
    }

    public typealias Failure = BluetoothError

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(channel: self) }
}

/// What this API keeps of a channel. It does not retain the application's `Adapter`.
final class ChannelStream: Sendable {
    struct State {
        var awaitingEnd: [CallToken] = []
        /// What calls throw once it is closed.
        var end: BluetoothError?
        /// Whether something written had not left by then.
        var hasLostData = false
    }

    let id: CreditBasedChannel.ID
    let link: LinkIdentifier
    let information: ChannelInformation
    let router: EventRouter
    let received: AsyncQueue<[UInt8]>
    /// The SDUs that may be sent, and the calls that wait to send one.
    private let credits = CreditLine(count: SharedHost.channelCredit)
    private let state = Mutex(State())

    /// SDUs are no longer than this, however much the peer takes, so that what is on its way stays small.
    private static let longestSDU = 8192
    var sduLength: Int { min(Int(information.peerMTU), Self.longestSDU) }

    init(_ id: CreditBasedChannel.ID, _ link: LinkIdentifier, _ information: ChannelInformation, _ router: EventRouter)
    {
        self.id = id
        self.link = link
        self.information = information
        self.router = router
        // The peer's credits keep it shorter.
        received = AsyncQueue(
            capacity: information.greatestWaitingCount, overflow: .fail,
            onTake: { [weak router] octets in
                router?.post(.channel(link, .consume(id, octets.count)))
            })
    }

    var isClosed: Bool { state.withLock { $0.end != nil } }

    @discardableResult
    func post(_ call: ChannelCall) -> Bool { router.post(.channel(link, call)) }

    func takeCredit() async throws(BluetoothError) {
        if Task.isCancelled { throw .cancelled }
        if credits.take() { return }
        try await router.waitForCredit(in: credits) { state.withLock { $0.end } }
    }

    /// SDUs have left.
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
            case .channelClosed where !hasLostData: router.resume(token, .success(.done))
            case let error?: router.resume(token, .failure(error))
            }
            return true
        }
    }

    /// It is closed, or its link has ended.
    ///
    /// - Parameter reading: what the reader gets after what has come; nil for a plain end.
    func end(_ error: BluetoothError, reading: BluetoothError?) {
        let ended = state.withLock { state -> (State, [any CreditWaiter])? in
            guard state.end == nil else { return nil }
            let (waiters, count) = credits.close()
            defer { state = State(end: error, hasLostData: count < SharedHost.channelCredit) }
            return (state, waiters)
        }
        guard let (old, senders) = ended else { return }
        for sender in senders { sender.fail(error) }
        // Whoever has closed it knows that all has arrived, or that it may not have.
        let isAsWished = error == .channelClosed(.byThisDevice)
        for token in old.awaitingEnd { router.resume(token, isAsWished ? .success(.done) : .failure(error)) }
        received.finish(reading)
    }
}
