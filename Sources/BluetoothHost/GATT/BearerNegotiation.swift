import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothL2CAP

/// Asks the peer of a link for enhanced ATT bearers, once per link, while the link is encrypted (Core 5.4, Vol 3, Part F,
/// 3.2.11 and Part G, 5.3 and 5.4).
struct BearerNegotiation: StateMachine {
    /// An operation on the fixed bearer that comes before the first request for a channel.
    enum Question: Hashable, Sendable {
        /// Reads Server Supported Features: does the peer offer bearers?
        case serverFeatures
        /// Reads Client Supported Features, before this host adds its own.
        case clientFeatures
        /// Writes Client Supported Features with those of this host.
        case ownFeatures
    }

    private enum Phase: Hashable {
        /// The application has not used the peer's server: bearers would be of no use.
        case unused
        /// The link is not encrypted yet, or the host wants no bearers.
        case idle
        /// The host is starting an operation.
        case starting(Question)
        /// The peer has not answered the operation.
        case asking(Question, GATTClient.OperationID)
        /// The host is requesting a channel.
        case requesting
        /// The peer has not answered the request. `peerHasAsked` after a request of its own, which collides with this one.
        case opening(CreditBasedChannel.ID, peerHasAsked: Bool)
        /// Both sides asked at once, and neither had room for the other: the host asks again at the deadline.
        case waiting(until: Instant)
        case done
    }

    private var phase = Phase.unused
    /// How many channels the host has requested on this link.
    private var requestCount = 0

    /// How many more channels than `Context.limit` the host requests, where both sides ask at once.
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

    /// What the negotiation needs to know of its link and its host.
    struct Context {
        var role: LinkRole
        var parameters: CurrentConnectionParameters
        /// Whether the application and the peer may still use the link.
        var isOpen: Bool
        var isEncrypted: Bool
        /// How many bearers a link may have; 0 on a host that does without.
        var limit: Int
        /// How many are open.
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
        /// Abandons a channel that the peer has not answered about.
        case abandon(CreditBasedChannel.ID)
        /// Closes all bearers that are open.
        case closeBearers
    }

    /// Whether the application has not used the peer's server.
    @inline(__always)
    var isUnused: Bool {
        if case .unused = phase { true } else { false }
    }

    /// The operation that the peer has not answered.
    var operation: GATTClient.OperationID? {
        if case .asking(_, let operation) = phase { operation } else { nil }
    }

    /// The channel that the peer has not answered about.
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

    /// Finds out whether the peer offers bearers.
    private mutating func begin(_ context: Context) -> [Effect] {
        guard case .idle = phase, context.limit > 0, context.isEncrypted, context.isOpen else { return [] }
        return start(.serverFeatures, .readByUUID(.serverSupportedFeatures))
    }

    private mutating func start(_ question: Question, _ operation: GATTClientOperation) -> [Effect] {
        phase = .starting(question)
        return [.start(operation)]
    }

    /// The link is not encrypted any more.
    private mutating func end() -> [Effect] {
        switch phase {
        case .opening(let channel, _):
            phase = .idle
            return [.closeBearers, .abandon(channel)]
        case .idle, .waiting, .done: phase = .idle
        // An operation that is under way ends first. Unless the link is encrypted again by then, that leads nowhere.
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
            // Bits that are set stay set (7.2).
            guard let known = values.first else { return requestChannel(context) }
            var octets = known.value.isEmpty ? [0] : known.value
            let own: GATTClientSupportedFeatures = [.enhancedATTBearer, .multipleHandleValueNotifications]
            guard octets[0] & own.rawValue != own.rawValue else { return requestChannel(context) }
            octets[0] |= own.rawValue
            return start(.ownFeatures, .write(known.handle, octets))
        // The peer offers bearers nevertheless.
        case (.clientFeatures, .failed), (.ownFeatures, _): return requestChannel(context)
        case (.serverFeatures, .failed), (.serverFeatures, .completed), (.clientFeatures, .completed): break
        }
        phase = .done
        return []
    }

    /// Requests a channel, unless there are enough by now: the peer may have opened some.
    ///
    /// One at a time. A server that answers a request for several may name its channels in another order than it was asked
    /// for them, as Linux did for years, and then answers over another bearer than it was asked on.
    private mutating func requestChannel(_ context: Context) -> [Effect] {
        guard requestCount < context.limit + Self.maximumCollisions, context.openCount < context.limit,
            context.hasRoomForChannel, context.isOpen, context.isEncrypted
        else {
            // A link that has lost its encryption may get it back.
            phase = context.isEncrypted ? .done : .idle
            return []
        }
        phase = .requesting
        return [.requestChannel]
    }

    /// The peer has refused a channel. After a collision a central may ask again at once; a peripheral waits until the central
    /// can have done so (Part G, 5.4).
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
