import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothL2CAP

/// Negotiates enhanced ATT bearers with the peer of a link, once per link, while the link is encrypted (Core 5.4, Vol
/// 3, Part F, 3.2.11 and Part G, 5.3 and 5.4).
struct BearerNegotiation: StateMachine {
    /// An operation on the fixed bearer that precedes the first request for a channel.
    enum Question: Hashable, Sendable {
        /// Reads Server Supported Features, to find out whether the peer supports enhanced bearers.
        case serverFeatures
        /// Reads Client Supported Features, before this host adds its own features.
        case clientFeatures
        /// Writes Client Supported Features, with this host's features added.
        case ownFeatures
    }

    private enum Phase: Hashable {
        /// The application has not used the peer's server, so it has no use for bearers.
        case unused
        /// The link is not encrypted yet, or the host does not use enhanced bearers.
        case idle
        /// The host is starting an operation.
        case starting(Question)
        /// The peer has not answered the operation yet.
        case asking(Question, GATTClient.OperationID)
        /// The host is requesting a channel.
        case requesting
        /// The peer has not answered the request yet. `peerHasAsked` is true if the peer has sent a request as well,
        /// which collides with this one.
        case opening(CreditBasedChannel.ID, peerHasAsked: Bool)
        /// Both sides sent a request at the same time, and neither had room for the other's channel. The host tries
        /// again at the deadline.
        case waiting(until: Instant)
        case done
    }

    private var phase = Phase.unused
    /// The number of channels that the host has requested on this link.
    private var requestCount = 0

    /// The number of requests beyond `Context.limit` that the host may send because of collisions.
    static let maximumCollisions = 2

    enum Event {
        /// The application uses the peer's server.
        case clientUsed
        case encrypted
        case decrypted
        case operationBegan(GATTClient.OperationID)
        case operationRefused
        case operationEnded(GATTClientEvent)
        case channelRequested(CreditBasedChannel.ID)
        case requestRefused
        /// The peer has requested channels for bearers.
        case peerAsked
        case channelOpened(CreditBasedChannel.ID)
        case channelRefused(CreditBasedChannel.ID, peerLacksRoom: Bool)
        case timePassed
    }

    /// The facts about the link and the host that the negotiation depends on.
    struct Context {
        var role: LinkRole
        var parameters: CurrentConnectionParameters
        /// Whether the application and the peer may still use the link.
        var isOpen: Bool
        var isEncrypted: Bool
        /// The maximum number of bearers on a link; 0 on a host that does not use them.
        var limit: Int
        /// The number of open bearers.
        var openCount: Int
        /// Whether the link has room for another channel.
        var hasRoomForChannel: Bool
        var now: Instant
    }

    enum Effect: Equatable {
        /// Starts an operation on the fixed bearer; `operationBegan` or `operationRefused` follows.
        case start(GATTClientOperation)
        /// Requests a channel; `channelRequested` or `requestRefused` follows.
        case requestChannel
        /// Abandons a channel request that the peer has not answered.
        case abandon(CreditBasedChannel.ID)
        /// Closes all open bearers.
        case closeBearers
    }

    /// Whether the application has not used the peer's server.
    @inline(__always)
    var isUnused: Bool {
        if case .unused = phase { true } else { false }
    }

    /// The operation that the peer has not answered yet.
    var operation: GATTClient.OperationID? {
        if case .asking(_, let operation) = phase { operation } else { nil }
    }

    /// The channel request that the peer has not answered yet.
    var requestedChannel: CreditBasedChannel.ID? {
        if case .opening(let channel, _) = phase { channel } else { nil }
    }

    var deadline: Instant? {
        if case .waiting(let until) = phase { until } else { nil }
    }

    var phaseName: PhaseName {
        switch phase {
        case .unused: .unused
        case .idle: .idle
        case .starting: .starting
        case .asking(.serverFeatures, _): .readingServerFeatures
        case .asking(.clientFeatures, _): .readingClientFeatures
        case .asking(.ownFeatures, _): .writingClientFeatures
        case .requesting: .requesting
        case .opening: .opening
        case .waiting: .waiting
        case .done: .done
        }
    }

    // MARK: - Events

    mutating func handle(_ event: Event, _ context: Context) -> [Effect] {
        switch event {
        case .clientUsed:
            guard case .unused = phase else { return [] }
            phase = .idle
            return begin(context)
        case .encrypted: return begin(context)
        case .decrypted: return end()
        case .operationBegan(let operation):
            if case .starting(let question) = phase { phase = .asking(question, operation) }
            return []
        case .operationRefused:
            if case .starting = phase { phase = .done }
            return []
        case .operationEnded(let end):
            guard case .asking(let question, end.operation) = phase else { return [] }
            return answered(question, end, context)
        case .channelRequested(let channel):
            guard case .requesting = phase else { return [] }
            requestCount += 1
            phase = .opening(channel, peerHasAsked: false)
            return []
        case .requestRefused:
            if case .requesting = phase { phase = .done }
            return []
        case .peerAsked:
            if case .opening(let channel, _) = phase { phase = .opening(channel, peerHasAsked: true) }
            return []
        case .channelOpened(let channel):
            guard case .opening(channel, _) = phase else { return [] }
            return requestChannel(context)
        case .channelRefused(let channel, let peerLacksRoom):
            guard case .opening(channel, let peerHasAsked) = phase else { return [] }
            return refused(isCollision: peerHasAsked && peerLacksRoom, context)
        case .timePassed:
            guard case .waiting(let until) = phase, until <= context.now else { return [] }
            return requestChannel(context)
        }
    }

    /// Finds out whether the peer supports enhanced bearers.
    private mutating func begin(_ context: Context) -> [Effect] {
        guard case .idle = phase, context.limit > 0, context.isEncrypted, context.isOpen else { return [] }
        return start(.serverFeatures, .readByUUID(.serverSupportedFeatures))
    }

    private mutating func start(_ question: Question, _ operation: GATTClientOperation) -> [Effect] {
        phase = .starting(question)
        return [.start(operation)]
    }

    /// Handles the end of encryption.
    private mutating func end() -> [Effect] {
        switch phase {
        case .opening(let channel, _):
            phase = .idle
            return [.closeBearers, .abandon(channel)]
        case .idle, .waiting, .done: phase = .idle
        // A pending operation is finished first. It then leads to a request only if the link is encrypted again.
        case .unused, .starting, .asking, .requesting: break
        }
        return [.closeBearers]
    }

    private mutating func answered(_ question: Question, _ end: GATTClientEvent, _ context: Context) -> [Effect] {
        switch (question, end) {
        case (.serverFeatures, .completed(_, .values(let values))):
            // Bit 0 of the first octet (Part G, 7.4).
            guard let features = values.first?.value.first, features & 1 != 0 else { break }
            return start(.clientFeatures, .readByUUID(.clientSupportedFeatures))
        case (.clientFeatures, .completed(_, .values(let values))):
            // Bits that are set must stay set (7.2).
            guard let known = values.first else { return requestChannel(context) }
            var octets = known.value.isEmpty ? [0] : known.value
            let own: GATTClientSupportedFeatures = [.enhancedATTBearer, .multipleHandleValueNotifications]
            guard octets[0] & own.rawValue != own.rawValue else { return requestChannel(context) }
            octets[0] |= own.rawValue
            return start(.ownFeatures, .write(known.handle, octets))
        // The peer supports enhanced bearers anyway.
        case (.clientFeatures, .failed), (.ownFeatures, _): return requestChannel(context)
        case (.serverFeatures, .failed), (.serverFeatures, .completed), (.clientFeatures, .completed): break
        }
        phase = .done
        return []
    }

    /// Requests a channel, unless enough bearers are open, which may include some that the peer has opened.
    ///
    /// Channels are requested one at a time. A server that answers a request for several may list its channels in a
    /// different order than requested, as Linux did for years. It then sends responses on a different bearer than the
    /// one that carried the request.
    private mutating func requestChannel(_ context: Context) -> [Effect] {
        guard requestCount < context.limit + Self.maximumCollisions, context.openCount < context.limit,
            context.hasRoomForChannel, context.isOpen, context.isEncrypted
        else {
            // A link that has lost its encryption may be encrypted again.
            phase = context.isEncrypted ? .done : .idle
            return []
        }
        phase = .requesting
        return [.requestChannel]
    }

    /// Handles a refused channel. After a collision, a central may try again immediately. A peripheral waits until the
    /// central has had time to do so (Part G, 5.4).
    private mutating func refused(isCollision: Bool, _ context: Context) -> [Effect] {
        guard isCollision else {
            phase = .done
            return []
        }
        guard context.role == .peripheral else { return requestChannel(context) }
        let pause = max(.milliseconds(100), context.parameters.interval * 2 * (Int(context.parameters.latency) + 1))
        phase = .waiting(until: context.now.advanced(by: pause))
        return []
    }
}
