import GatewayPipeline

/// The state of a gateway's connection to its broker.
public struct SinkStatus: Equatable, Sendable {
    /// Whether the broker has accepted the current connection.
    public var isConnected = false
    /// The reason why there is no connection.
    public var failure: String?
    /// The number of connections that were made.
    public var connections: UInt64 = 0
    /// Lasting messages that the broker has acknowledged.
    public var delivered: UInt64 = 0
    /// Passing messages that were sent.
    public var sent: UInt64 = 0
    /// Lasting messages that wait, on disk or in memory.
    public var waiting = 0
    /// Passing messages that were dropped because the broker was not connected.
    public var droppedPassing: UInt64 = 0
    /// Messages of both kinds that were dropped because they arrived faster than this machine can store them.
    public var droppedOverload: UInt64 = 0
    /// Lasting messages that were dropped in favor of newer ones with the same topic, because the spool was full.
    public var droppedSuperseded: Int64 = 0
    /// Lasting messages that were dropped because they were the oldest.
    public var droppedOldest: Int64 = 0
    /// Messages that the broker refused.
    public var refused: UInt64 = 0

    /// Creates the status of a sink that has not connected yet.
    public init() {}
}

/// A destination for messages. It accepts them immediately and never blocks, because the caller may be an adapter's
/// thread.
public protocol Sink: Sendable {
    func take(_ publications: [Publication])
}
