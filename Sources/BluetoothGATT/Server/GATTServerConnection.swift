import BluetoothATT
import BluetoothBase

/// A client with a single channel: what `GATTServer` needs where the caller itself keeps the bearer. An `AttributeEndpoint`
/// is a client with any number of them.
public struct GATTServerConnection: Sendable {
    /// What does not depend on the channel.
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

    /// What the client listens to, in ascending order of characteristics. Where both devices are bonded it is kept for
    /// the next connection (Core 5.4, Vol 3, Part G, 2.4).
    public var subscriptions: [GATTSubscription] { peer.subscriptions }
    /// What the client has said about itself (Vol 3, Part G, 7.2); kept with a bond too.
    public var clientSupportedFeatures: GATTClientSupportedFeatures { peer.clientSupportedFeatures }
    /// The writes that wait for an Execute Write Request, or for the application to accept them.
    public var preparedWrites: GATTPreparedWrites {
        pending?.kind == .execute ? transaction.executing : peer.preparedWrites
    }
    /// How many PDUs were ignored because the client broke the protocol.
    public var droppedPDUCount: UInt64 { transaction.droppedPDUCount }
    /// When `GATTServer.fire` has to be called: the moment the application has had time enough to answer.
    public var nextDeadline: Instant? { transaction.nextDeadline }

    /// The request the application has to answer.
    var pending: GATTPendingRequest? { transaction.pending }

    /// What the client asked for at the characteristic whose value is at `characteristic`.
    public func configuration(of characteristic: AttributeHandle) -> GATTClientConfiguration {
        peer.configuration(of: characteristic)
    }

    /// Drops what is known about attributes that left the database.
    public mutating func forget(_ handles: ClosedRange<AttributeHandle>) {
        peer.forget(handles)
        transaction.forget(handles)
    }
}
