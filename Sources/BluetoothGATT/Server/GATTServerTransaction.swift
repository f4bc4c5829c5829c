import BluetoothATT
import BluetoothBase

/// A server's work for a client on one channel: the request that waits for the application, and the indication that
/// waits for its confirmation.
struct GATTServerTransaction: Sendable {
    /// The request that the application must answer.
    var pending: GATTPendingRequest?
    /// The PDUs that wait for the application's authorization, in order of arrival.
    var held: [GATTHeldPDU] = []
    /// The values collected for a Read Multiple Request.
    var collected = GATTCollectedValues()
    /// The queued writes that the application is asked to accept.
    var executing = GATTPreparedWrites()
    /// The handle of the value whose indication waits for a confirmation.
    var indicated: AttributeHandle?
    /// The last change of the database, by `GATTServedClient.changeCount`, that Database Out Of Sync has reported to
    /// the client on this channel.
    var toldOfChange: UInt32?
    /// The number of PDUs that were dropped without a response.
    private(set) var droppedPDUCount: UInt64 = 0
    /// The channel named in tokens.
    private let channel: AttributeChannel.ID
    private var lastToken: UInt32 = 0

    init(channel: AttributeChannel.ID) {
        self.channel = channel
    }

    /// When the application's time to answer is up.
    var nextDeadline: Instant? { earliest(pending?.deadline, held.first?.deadline) }
    /// Whether a request waits for the application: the client must not send another one.
    var isBusy: Bool { pending != nil || (!held.isEmpty && held.contains(where: \.isRequest)) }

    /// Defers a request until the application has answered.
    mutating func wait(for request: GATTPendingRequest.Kind, until deadline: Instant) -> GATTRequestToken {
        let token = makeToken()
        pending = GATTPendingRequest(token: token, deadline: deadline, kind: request)
        return token
    }

    mutating func makeToken() -> GATTRequestToken {
        lastToken &+= 1
        return GATTRequestToken(channel: channel, rawValue: lastToken)
    }

    /// Discards the queued writes to attributes that were removed from the database.
    mutating func forget(_ handles: ClosedRange<AttributeHandle>) {
        executing.removeAll(in: handles)
    }

    mutating func drop(_ reason: GATTDropReason) -> GATTServerOutcome {
        droppedPDUCount &+= 1
        return .dropped(reason)
    }
}
