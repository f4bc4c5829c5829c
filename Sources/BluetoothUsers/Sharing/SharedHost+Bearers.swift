import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// Which client operations of a link keep the order of their calls: those of one lane. They go over one bearer; others may go
/// over others, and overtake them.
enum OperationLane: Hashable, Sendable {
    /// The host's own.
    case host
    /// A user's, whatever they are about.
    case user(UserID)
    /// Those with one attribute, of calls that need no other order.
    case attribute(UserID, AttributeHandle)
    /// No other one.
    case none
}

/// Client operations and the bearers of a link (Core 5.4, Vol 3, Part F, 3.2.11): each goes to the one with the fewest
/// operations, unless others of its lane are under way.
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
            // A user may go on at once with what depends on its subscription.
            let call = links[slot.index].subscriptions.caller(of: handle)
            return call.map { $0.keepsOrder ? .user($0.user) : .attribute($0.user, handle) } ?? .host
        }
    }

    /// The bearer for an operation; nil if it has to wait.
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

    /// An operation has ended: begins those that waited for its bearer. Those that still have to wait are held again, in their order.
    mutating func beginHeldOperations(_ slot: LinkSlot, at now: Instant) {
        for waiting in links[slot.index].scheduler.takeWaitingForBearer() { start(waiting, slot, at: now) }
    }

    /// The bearer of an operation was closed, and the link goes on. What cannot have changed anything, or not twice, begins
    /// again on another one.
    mutating func bearerClosed(
        _ operation: PendingOperation, _ error: GATTClientError, _ slot: LinkSlot, at now: Instant
    ) {
        guard error == .notBegun || operation.operation.isRepeatable, operation.beginnings < Self.bearerLimit else {
            return failed(operation.purpose, slot, HostError(error), at: now)
        }
        start(operation.again, slot, at: now)
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
