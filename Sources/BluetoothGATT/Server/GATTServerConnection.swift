import BluetoothATT
import BluetoothBase

/// A client with a single channel: for `GATTServer` when the caller itself keeps the bearer. An `AttributeEndpoint` is
/// a client with any number of them.
public struct GATTServerConnection: Sendable {
    /// The state that does not depend on the channel.
    var peer: GATTPeer
    var transaction = GATTServerTransaction(channel: .first)

    /// - Parameters:
    ///   - subscriptions: Those of a bonded client's last connection.
    ///   - preparedWriteLimits: How much the client may queue.
    public init(
        subscriptions: [GATTSubscription] = [], clientSupportedFeatures: GATTClientSupportedFeatures = [],
        preparedWriteLimits: GATTPreparedWrites.Limits = .init()
    ) {
        peer = GATTPeer(
            subscriptions: subscriptions, clientSupportedFeatures: clientSupportedFeatures,
            preparedWriteLimits: preparedWriteLimits)
    }

    /// The client's subscriptions, in ascending order of characteristics. For a bonded client they are kept for the
    /// next connection (Core 5.4, Vol 3, Part G, 2.4).
    public var subscriptions: [GATTSubscription] { peer.subscriptions }
    /// The Client Supported Features (Vol 3, Part G, 7.2); also kept for a bonded client.
    public var clientSupportedFeatures: GATTClientSupportedFeatures { peer.clientSupportedFeatures }
    /// The writes that wait for an Execute Write Request, or for the application to accept them.
    public var preparedWrites: GATTPreparedWrites {
        pending?.kind == .execute ? transaction.executing : peer.preparedWrites
    }
    /// How many PDUs were ignored because the client broke the protocol.
    public var droppedPDUCount: UInt64 { transaction.droppedPDUCount }
    /// When `GATTServer.fire` must be called: when the application's time to answer is over.
    public var nextDeadline: Instant? { transaction.nextDeadline }

    /// The request the application must answer.
    var pending: GATTPendingRequest? { transaction.pending }

    /// The client's configuration of the characteristic with its value at `characteristic`.
    public func configuration(of characteristic: AttributeHandle) -> GATTClientConfiguration {
        peer.configuration(of: characteristic)
    }

    /// Drops what is known about attributes that left the database.
    public mutating func forget(_ handles: ClosedRange<AttributeHandle>) {
        peer.forget(handles)
        transaction.forget(handles)
    }
}
