import BluetoothATT
import BluetoothBase

/// What a server is doing for a client on one channel: the request that waits for the application, and the indication
/// that waits for its confirmation.
struct GATTServerTransaction: Sendable {
    /// The request the application must answer.
    var pending: GATTPendingRequest?
    /// What waits for the application's consent, in the order it came.
    var held: [GATTHeldPDU] = []
    /// The values collected for a Read Multiple Request.
    var collected = GATTCollectedValues()
    /// The queued writes that the application is asked to accept.
    var executing = GATTPreparedWrites()
    /// The value whose indication waits for a confirmation.
    var indicated: AttributeHandle?
    /// The change of the database, by `GATTPeer.changeCount`, of which the client was last told here by Database Out Of Sync.
    var toldOfChange: UInt32?
    /// How many PDUs were ignored because the client broke the protocol.
    private(set) var droppedPDUCount: UInt64 = 0
    /// The channel, as tokens name it.
    private let channel: AttributeChannel.ID
    private var lastToken: UInt32 = 0

    init(channel: AttributeChannel.ID) {
        self.channel = channel
    }

    /// When the application has had time enough to answer.
    var nextDeadline: Instant? { earliest(pending?.deadline, held.first?.deadline) }
    /// Whether a request waits for the application: the client must not send another one.
    var isBusy: Bool { pending != nil || (!held.isEmpty && held.contains(where: \.isRequest)) }

    /// Puts a request off until the application has answered.
    mutating func wait(for request: GATTPendingRequest.Kind, until deadline: Instant) -> GATTRequestToken {
        let token = makeToken()
        pending = GATTPendingRequest(token: token, deadline: deadline, kind: request)
        return token
    }

    mutating func makeToken() -> GATTRequestToken {
        lastToken &+= 1
        return GATTRequestToken(channel: channel, rawValue: lastToken)
    }

    /// Forgets attributes that were removed from the database.
    mutating func forget(_ handles: ClosedRange<AttributeHandle>) {
        executing.removeAll(in: handles)
    }

    mutating func drop(_ reason: GATTDropReason) -> GATTServerOutcome {
        droppedPDUCount &+= 1
        return .dropped(reason)
    }
}
