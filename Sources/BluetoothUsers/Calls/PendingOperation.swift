import BluetoothATT
import BluetoothGATT
import BluetoothHost

/// A client operation in progress, and the receiver of its result.
struct PendingOperation: Sendable {
    enum Purpose: Equatable, Sendable {
        case call(UserCall)
        /// The ATT_MTU exchange, after which the link is ready.
        case readiness
        /// A step of the subscription to the value at this handle.
        case subscription(AttributeHandle)
        /// A step of the link's preparation.
        case preparation
        /// Reads the Database Hash, which shows whether cached attributes are still valid.
        case databaseHash
    }

    let identifier: GATTClient.OperationID
    let purpose: Purpose
    /// Whether the result contains all primary services of the peer.
    let findsAllServices: Bool
    /// The operation that the caller requested.
    let operation: GATTClientOperation
    /// Whether the operation may be repeated once the link has more security.
    let isRepeatable: Bool
    /// The operations that this one must not overtake.
    let lane: OperationLane
    /// How often the operation has started. It starts again if the peer's services changed meanwhile, or if its bearer
    /// was closed.
    let beginnings: UInt8
    /// Whether attributes that the operation concerns have changed since it was requested.
    private(set) var isOutdated = false
    /// How often the peer's attribute cache had been dropped when the operation started.
    let dropCount: UInt32

    mutating func outdate() { isOutdated = true }
}

/// A request to the controller concerning a link.
struct PendingRequest: Sendable {
    let identifier: RequestIdentifier
    let call: UserCall
}
