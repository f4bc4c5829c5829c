import BluetoothATT
import BluetoothBase

// The local client's side: requests to the peer.

extension AttributeEndpoint {
    /// The channel that `start` uses by default: the first one with the fewest operations, among the channels whose MTU
    /// is not below that of the first channel. Nil if no working channel is left.
    public var channelForOperation: AttributeChannel.ID? {
        var choice: Int?
        let mtu = index(of: .first).map { channels[$0].bearer.mtu } ?? 0
        for index in channels.indices where !channels[index].bearer.isDead && channels[index].bearer.mtu >= mtu {
            guard let other = choice else {
                choice = index
                continue
            }
            if channels[index].pendingOperationCount < channels[other].pendingOperationCount { choice = index }
        }
        return choice.map { channels[$0].id }
    }

    /// Starts an operation. Its end is reported in `events`, exactly once.
    ///
    /// Operations on one channel run in the order of the calls. Operations on different channels are not ordered: name
    /// the channel if you need an order.
    ///
    /// - Parameter channel: The channel to use; nil for `channelForOperation`.
    /// - Returns: The identifier of the operation, which names the channel of the written PDU.
    /// - Throws: `tooManyOperations`; `transactionTimedOut` if the channel is dead, `disconnected` if it is closed.
    public mutating func start(
        _ operation: GATTClientOperation, on channel: AttributeChannel.ID? = nil, at now: Instant,
        into writer: inout ByteWriter
    ) throws(GATTClientError) -> GATTClient.OperationID {
        guard let channel = channel ?? channelForOperation ?? channels.first?.id, let index = index(of: channel) else {
            throw .disconnected
        }
        defer { collectEvents(index) }
        return try channels[index].start(operation, at: now, into: &writer)
    }

    /// Ends an operation with `cancelled`. A request that was already sent cannot be recalled: its response is ignored,
    /// and the channel's next operation starts only after it.
    ///
    /// - Returns: Whether the operation was pending.
    @discardableResult
    public mutating func cancel(_ operation: GATTClient.OperationID) -> Bool {
        guard let index = index(of: operation.channel) else { return false }
        defer { collectEvents(index) }
        return channels[index].client.cancel(operation)
    }

    /// Whether an operation has begun: its first request has been sent.
    public func isUnderWay(_ operation: GATTClient.OperationID) -> Bool {
        index(of: operation.channel).map { channels[$0].client.isUnderWay(operation) } ?? false
    }

    /// Appends a Write Without Response. It does not wait for pending operations (Core 5.4, Vol 3, Part G, 4.9.1).
    ///
    /// - Throws: `valueTooLong` if the value exceeds ATT_MTU - 3 octets; `transactionTimedOut` if the channel is dead,
    ///   `disconnected` if it is closed.
    public mutating func writeCommand(
        _ handle: AttributeHandle, value: Span<UInt8>, on channel: AttributeChannel.ID = .first,
        into writer: inout ByteWriter
    ) throws(GATTClientError) {
        guard let index = index(of: channel) else { throw .disconnected }
        try channels[index].client.writeCommand(
            handle, value: value, bearer: channels[index].bearer, into: &writer)
    }
}

extension AttributeChannel {
    mutating func start(
        _ operation: GATTClientOperation, at now: Instant, into writer: inout ByteWriter
    ) throws(GATTClientError) -> GATTClient.OperationID {
        try client.start(operation, bearer: &bearer, at: now, into: &writer)
    }
}
