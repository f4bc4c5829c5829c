import BluetoothATT
import BluetoothBase

// Our client's side: what we ask of the peer.

extension AttributeEndpoint {
    /// The channel that `start` takes where none is named: the one with the fewest operations, and of those the first. Nil
    /// where none is left that works.
    public var channelForOperation: AttributeChannel.ID? {
        var choice: Int?
        for index in channels.indices where !channels[index].bearer.isDead {
            guard let other = choice else {
                choice = index
                continue
            }
            if channels[index].pendingOperationCount < channels[other].pendingOperationCount { choice = index }
        }
        return choice.map { channels[$0].id }
    }

    /// Starts an operation; its end follows in `events`, exactly once.
    ///
    /// Operations on one channel are carried out in the order of the calls. Those on different channels are not ordered:
    /// whoever needs an order names the channel.
    ///
    /// - Parameter channel: where nil, `channelForOperation`.
    /// - Returns: The identifier of the operation, with the channel that what was written is for.
    /// - Throws: `tooManyOperations`; `transactionTimedOut` where the channel is dead, `disconnected` where it is closed.
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

    /// Ends an operation with `cancelled`. A request already sent cannot be recalled: its response is swallowed when it
    /// comes, and only then does the next operation of the channel start.
    ///
    /// - Returns: Whether there was such an operation.
    @discardableResult
    public mutating func cancel(_ operation: GATTClient.OperationID) -> Bool {
        guard let index = index(of: operation.channel) else { return false }
        defer { collectEvents(index) }
        return channels[index].client.cancel(operation)
    }

    /// Appends a Write Without Response, which waits for nothing (Core 5.4, Vol 3, Part G, 4.9.1).
    ///
    /// - Throws: `valueTooLong` above ATT_MTU less 3 octets; `transactionTimedOut` where the channel is dead,
    ///   `disconnected` where it is closed.
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
