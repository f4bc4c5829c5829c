import BluetoothATT

/// One ATT bearer of a peer, over any transport, with the procedures in both directions: the operations of our client,
/// and the work of our server for the peer (Core 5.4, Vol 3, Part F, 3.2.11).
public struct AttributeChannel: Sendable {
    /// Names a channel for the endpoint's lifetime.
    public struct ID: RawRepresentable, Hashable, Sendable {
        public let rawValue: UInt32

        /// The first channel of an endpoint: on a link, the fixed one.
        @inlinable public static var first: ID { ID(rawValue: 0) }

        @inlinable
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        // Compared for each PDU, in other modules, too: the one that the compiler writes would be a call there.
        @inlinable @inline(__always)
        public static func == (one: ID, other: ID) -> Bool { one.rawValue == other.rawValue }
    }

    public let id: ID
    /// The rules of the channel: its MTU, and what may be sent now.
    public internal(set) var bearer: ATTBearer
    /// Our client on the channel.
    var client: GATTClient
    /// The state of our server for the peer on the channel.
    var transaction: GATTServerTransaction

    init(id: ID, bearer: ATTBearer, maximumWaiting: Int) {
        self.id = id
        self.bearer = bearer
        client = GATTClient(channel: id, maximumWaiting: maximumWaiting)
        transaction = GATTServerTransaction(channel: id)
    }

    /// How many operations of our client have been started on the channel and have not ended.
    public var pendingOperationCount: Int { client.pendingCount }
    /// The peer's request that waits for the application. No later request on this channel is answered before it.
    public var pendingRequest: GATTRequestToken? { transaction.pending?.token }
    /// How many PDUs were ignored because the peer broke the protocol.
    public var droppedPDUCount: UInt64 { transaction.droppedPDUCount }
}
