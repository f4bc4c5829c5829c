import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// Which client operations of a link keep the order of their calls: those of one lane. They go over one bearer; others may go
/// over others, and overtake them.
enum OperationLane: Equatable, Sendable {
    /// The host's own.
    case host
    /// A user's, whatever they are about.
    case user(UserID)
    /// Those with one attribute, of calls that need no other order.
    case attribute(UserID, AttributeHandle)
    /// No other one.
    case none
}

/// A client operation that waits for those before it in its lane, which are under way on a bearer where it may not go.
struct HeldOperation: Sendable {
    let waiting: RefusedOperation
    let lane: OperationLane
}

/// Client operations and the bearers of a link (Core 5.4, Vol 3, Part F, 3.2.11): each goes to the one with the fewest
/// operations, unless others of its lane are under way.
extension SharedHost {
    func lane(of operation: GATTClientOperation, for purpose: PendingOperation.Purpose, _ slot: Int) -> OperationLane {
        switch purpose {
        case .readiness, .preparation, .databaseHash: return .host
        case .call(let call):
            guard !call.keepsOrder else { return .user(call.user) }
            return operation.attribute.map { .attribute(call.user, $0) } ?? .none
        case .subscription(let handle):
            // A user may go on at once with what depends on its subscription.
            let record = links[slot].subscriptions.first { $0.request.characteristic == handle }
            let call = record?.holders.first?.call ?? record?.leaving.first
            return call.map { $0.keepsOrder ? .user($0.user) : .attribute($0.user, handle) } ?? .host
        }
    }

    /// The bearer for an operation; nil if it has to wait.
    func bearer(for operation: GATTClientOperation, _ lane: OperationLane, _ slot: Int) -> AttributeChannel.ID? {
        guard !links[slot].heldOperations.contains(where: { $0.lane == lane && lane != .none }) else { return nil }
        let link = links[slot].identifier
        guard host.enhancedBearerCount(of: link) > 0 else { return .first }
        let pending = links[slot].operations.last {
            $0.lane == lane && lane != .none && host.isOpen($0.identifier.channel, on: link)
        }?.identifier.channel
        guard operation.needsFixedChannel || lane == .host else {
            return pending ?? host.bearerForOperation(on: link)
        }
        return pending == nil || pending == .first ? .first : nil
    }

    /// Keeps an operation until it may begin.
    mutating func hold(_ operation: HeldOperation, _ slot: Int, at now: Instant) {
        guard links[slot].heldOperations.count < GATTClient.defaultMaximumWaiting else {
            return failed(operation.waiting.purpose, slot, .client(.tooManyOperations), at: now)
        }
        links[slot].heldOperations.append(operation)
    }

    /// An operation has ended: begins those that waited for it.
    mutating func beginHeldOperations(_ slot: Int, at now: Instant) {
        guard !links[slot].heldOperations.isEmpty else { return }
        let held = links[slot].heldOperations.map(\.waiting)
        links[slot].heldOperations = []
        // Those that still have to wait are held again, in this order.
        for one in held { start(one.operation, for: one.purpose, slot, at: now, beginnings: one.beginnings) }
    }

    /// Calls off what a call has asked for and has not begun.
    mutating func cancelHeld(_ slot: Int, where isMeant: (UserCall) -> Bool) -> Bool {
        let count = links[slot].heldOperations.count
        links[slot].heldOperations.removeAll { held in
            if case .call(let call) = held.waiting.purpose { isMeant(call) } else { false }
        }
        return links[slot].heldOperations.count < count
    }

    /// The bearer of an operation was closed, and the link goes on. What cannot have changed anything, or not twice, begins
    /// again on another one.
    mutating func bearerClosed(
        _ operation: PendingOperation, _ error: GATTClientError, _ slot: Int, at now: Instant
    ) {
        guard error == .notBegun || operation.operation.isRepeatable, operation.beginnings < Self.bearerLimit else {
            return failed(operation.purpose, slot, HostError(error), at: now)
        }
        start(operation.operation, for: operation.purpose, slot, at: now, beginnings: operation.beginnings + 1)
    }

    /// On how many bearers an operation is tried.
    private static let bearerLimit: UInt8 = 4
}

extension GATTClientOperation {
    /// The one attribute it is about; nil for several.
    fileprivate var attribute: AttributeHandle? {
        switch self {
        case .read(let handle), .readLong(let handle, _), .write(let handle, _), .writeLong(let handle, _),
            .configure(let handle, _):
            handle
        default: nil
        }
    }

    /// Whether it belongs on the fixed channel: the MTU is exchanged there, and the server has one queue for the parts of
    /// values from all bearers (Vol 3, Part F, 3.4.6.1).
    fileprivate var needsFixedChannel: Bool {
        switch self {
        case .exchangeMTU, .writeLong, .writeReliably: true
        default: false
        }
    }

    /// Whether it does no more if it is done twice.
    fileprivate var isRepeatable: Bool {
        switch self {
        case .write, .writeLong, .writeReliably: false
        default: true
        }
    }
}
