import GatewayPipeline

/// How it is between a gateway and its broker.
public struct SinkStatus: Equatable, Sendable {
    public var isConnected = false
    /// Why there is no connection.
    public var failure: String?
    /// How often a connection was made.
    public var connections: UInt64 = 0
    /// Lasting messages that the broker has acknowledged.
    public var delivered: UInt64 = 0
    /// Passing messages that were sent.
    public var sent: UInt64 = 0
    /// Messages that wait on disk.
    public var waiting = 0
    /// Passing messages that were given up, since the broker was away.
    public var droppedPassing: UInt64 = 0
    /// Messages of both kinds that were given up, since more came than this machine can store.
    public var droppedOverload: UInt64 = 0
    /// Lasting messages that were given up for newer ones of their topic, since the disk's share was used up.
    public var droppedSuperseded: Int64 = 0
    /// Lasting messages that were given up since they were the oldest.
    public var droppedOldest: Int64 = 0
    /// Messages that the broker does not take.
    public var refused: UInt64 = 0

    public init() {}
}

/// Where messages go. It takes them at once and never waits: whoever calls may be an adapter's thread.
public protocol Sink: Sendable {
    func take(_ publications: [Publication])
}
