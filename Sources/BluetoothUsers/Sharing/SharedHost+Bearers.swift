import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// Groups client operations of a link that must keep the order of their calls. Operations of one lane use the same
/// bearer. Other operations may use other bearers and overtake them.
enum OperationLane: Hashable, Sendable {
    /// The host's own operations.
    case host
    /// All operations of a user.
    case user(UserID)
    /// The operations of a user on one attribute, for calls that need no other ordering.
    case attribute(UserID, AttributeHandle)
    /// An operation that has no order relative to others.
    case none
}

/// Assigns client operations to the bearers of a link (Core 5.4, Vol 3, Part F, 3.2.11). Each operation uses the bearer
/// with the fewest operations, unless other operations of its lane are in progress.
extension SharedHost {
    func lane(of operation: GATTClientOperation, for purpose: PendingOperation.Purpose, _ slot: LinkSlot)
        -> OperationLane
    {
        switch purpose {
        case .readiness, .preparation, .databaseHash: return .host
        case .call(let call):
            guard !call.keepsOrder else { return .user(call.user) }
            return operation.attribute.map { .attribute(call.user, $0) } ?? .none
        case .subscription(let handle):
            // A user may continue immediately with operations that depend on its subscription.
            let call = links[slot.index].subscriptions.caller(of: handle)
            return call.map { $0.keepsOrder ? .user($0.user) : .attribute($0.user, handle) } ?? .host
        }
    }

    /// The bearer for an operation; nil if the operation has to wait.
    func bearer(for operation: GATTClientOperation, _ lane: OperationLane, _ slot: LinkSlot) -> AttributeChannel
        .ID?
    {
        guard !links[slot.index].scheduler.holds(lane) else { return nil }
        let link = links[slot.index].identifier
        guard host.enhancedBearerCount(of: link) > 0 else { return .first }
        let pending = links[slot.index].scheduler.operations.last {
            $0.lane == lane && lane != .none && host.isOpen($0.identifier.channel, on: link)
        }?.identifier.channel
        guard operation.needsFixedChannel || lane == .host else {
            return pending ?? host.bearerForOperation(on: link)
        }
        return pending == nil || pending == .first ? .first : nil
    }

    /// Starts the operations that waited for a bearer, because an operation has ended. Operations that still have to
    /// wait are held again in their order.
    mutating func beginHeldOperations(_ slot: LinkSlot, at now: Instant) {
        for waiting in links[slot.index].scheduler.takeWaitingForBearer() { start(waiting, slot, at: now) }
    }

    /// Handles the end of an operation whose bearer was closed while the link remains. If the operation was not sent,
    /// or has the same effect when repeated, it starts again on another bearer.
    mutating func bearerClosed(
        _ operation: PendingOperation, _ error: GATTClientError, _ slot: LinkSlot, at now: Instant
    ) {
        guard error == .notBegun || operation.operation.isRepeatable, operation.beginnings < Self.bearerLimit else {
            return failed(operation.purpose, slot, HostError(error), at: now)
        }
        start(operation.again, slot, at: now)
    }

    /// The maximum number of bearers on which an operation is attempted.
    private static let bearerLimit: UInt8 = 4
}

extension GATTClientOperation {
    /// The only attribute that the operation concerns; nil if there are several.
    fileprivate var attribute: AttributeHandle? {
        switch self {
        case .read(let handle), .readLong(let handle, _), .write(let handle, _), .writeLong(let handle, _, _),
            .configure(let handle, _):
            handle
        default: nil
        }
    }

    /// Whether the operation requires the fixed channel. The MTU is exchanged there, and the server has a single
    /// prepare queue for the parts of values from all bearers (Vol 3, Part F, 3.4.6.1).
    fileprivate var needsFixedChannel: Bool {
        switch self {
        case .exchangeMTU, .writeLong, .writeReliably: true
        default: false
        }
    }

    /// Whether repeating the operation has no additional effect.
    fileprivate var isRepeatable: Bool {
        switch self {
        case .write, .writeLong, .writeReliably: false
        default: true
        }
    }
}
