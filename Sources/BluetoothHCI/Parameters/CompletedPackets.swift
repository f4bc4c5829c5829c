import BluetoothBase

/// The number of data packets of a connection that have been sent or flushed (Core 5.4, Vol 4, Part E, 7.7.19).
public struct CompletedPackets: Hashable, Sendable {
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// The number of packets completed since the last count.
    public var count: UInt16

    /// Creates the count of one connection.
    @inlinable
    public init(connectionHandle: ConnectionHandle, count: UInt16) {
        self.connectionHandle = connectionHandle
        self.count = count
    }
}

extension CompletedPackets: HCIParameter {
    init(decoding reader: inout ByteReader) throws(DecodingFailure) { (connectionHandle, count) = try reader.read() }
    func encode(into writer: inout ByteWriter) { writer.append(parameters: connectionHandle, count) }
}
