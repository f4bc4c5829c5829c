import BluetoothATT

/// One ATT bearer of a peer, whatever carries its PDUs, with what is under way on it in both directions: the operations of
/// our client, and what our server does for the peer (Core 5.4, Vol 3, Part F, 3.2.11).
public struct AttributeChannel: Sendable {
    /// Names a channel for as long as its endpoint lives.
    public struct ID: Hashable, Sendable {
        let rawValue: UInt16

        /// The channel that an endpoint is made with: on a link, the fixed one.
        public static let first = ID(rawValue: 0)
    }

    public let id: ID
    /// The rules of the channel: its MTU, and what may be sent now.
    public internal(set) var bearer: ATTBearer
    /// Our client on the channel.
    var client: GATTClient
    /// What our server does for the peer on the channel.
    var transaction: GATTServerTransaction

    init(id: ID, bearer: ATTBearer, maximumWaiting: Int) {
        self.id = id
        self.bearer = bearer
        client = GATTClient(channel: id, maximumWaiting: maximumWaiting)
        transaction = GATTServerTransaction(channel: id)
    }

    /// How many operations of our client have been started on the channel and have not ended.
    public var pendingOperationCount: Int { client.pendingCount }
    /// The peer's request that waits for the application. Nothing else that the peer asks for on this channel is answered
    /// before.
    public var pendingRequest: GATTRequestToken? { transaction.pending?.token }
    /// How many PDUs were ignored because the peer broke the protocol.
    public var droppedPDUCount: UInt64 { transaction.droppedPDUCount }
}
