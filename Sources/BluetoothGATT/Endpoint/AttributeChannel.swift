import BluetoothATT

/// One ATT bearer of a peer, over any transport, with the procedures in both directions: the operations of the local
/// client, and the work of the local server for the peer (Core 5.4, Vol 3, Part F, 3.2.11).
public struct AttributeChannel: Sendable {
    /// Identifies a channel for the endpoint's lifetime.
    public struct ID: RawRepresentable, Hashable, Sendable {
        /// The ID as a number, unique within the endpoint.
        public let rawValue: UInt32

        /// The first channel of an endpoint: on a link, the fixed channel.
        @inlinable public static var first: ID { ID(rawValue: 0) }

        /// Creates an ID from its number. The number is not checked.
        @inlinable
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        // Compared for each PDU, also in other modules, where the synthesized operator would be a function call.
        /// Whether both IDs identify the same channel of an endpoint.
        @inlinable @inline(__always)
        public static func == (one: ID, other: ID) -> Bool { one.rawValue == other.rawValue }
    }

    /// The ID of the channel, which never changes.
    public let id: ID
    /// The bearer of the channel: its MTU, and what may be sent now.
    public internal(set) var bearer: ATTBearer
    /// The local client on the channel.
    var client: GATTClient
    /// The local server's state for the peer on the channel.
    var transaction: GATTServerTransaction

    init(id: ID, bearer: ATTBearer, maximumWaiting: Int) {
        self.id = id
        self.bearer = bearer
        client = GATTClient(channel: id, maximumWaiting: maximumWaiting)
        transaction = GATTServerTransaction(channel: id)
    }

    /// The number of the local client's operations on the channel that have been started and have not ended.
    public var pendingOperationCount: Int { client.pendingCount }
    /// The peer's request that waits for the application. Until it is answered, later requests on this channel are
    /// dropped.
    public var pendingRequest: GATTRequestToken? { transaction.pending?.token }
    /// The number of PDUs from the peer that were dropped without a response, for any `GATTDropReason`.
    public var droppedPDUCount: UInt64 { transaction.droppedPDUCount }
}
