import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// A link as one user of a scenario sees it.
struct UserLink {
    let identifier: LinkIdentifier
    var information: LinkInformation
    /// The station of the peer.
    let peer: Int
    /// When this user learnt of it.
    let beginning: Instant
    /// How many unacknowledged values the user may still send.
    var credit = 0
    /// Whether `connect` has given the link to this user.
    var isHeld = false
    var isHolding = false

    /// Streams of values to the peer, by characteristic and by whether they are indicated.
    var sending: [StreamKey: Stream] = [:]
    /// What the peer subscribed to.
    var subscriptions: [SimulatedService.Characteristic: GATTClientConfiguration] = [:]
    /// The subscriptions of a bonded peer that it has from an earlier link, and has not written to on this one.
    var restored: Set<SimulatedService.Characteristic> = []
    var received = StreamOrder()
    /// Values that wait for credit.
    var backlog: [Outgoing] = []
    /// The card that is being sent, and the one that is being received.
    var cardToSend: ChunkedMessageSender?
    /// Whether empty parts of a card are sent.
    var isDribbling = false
    /// What the peer has last written of the subscription that it writes by itself.
    var configured: GATTClientConfiguration = []
    var card = ChunkedMessageReceiver()
    /// Whether what `card` holds began with the beginning of a card.
    var isCardWhole = false
    /// Whether the host watches for changes of the peer's services, and whether it did when `handles` were found.
    var isWatched = false
    var wereFoundWatched = false
    /// What the peer has last told to have changed, when, and how often its service had changed by then.
    var lastChange: (handles: ClosedRange<AttributeHandle>, instant: Instant, epoch: Int)?
    /// Handles found by discovery.
    var handles: [SimulatedService.Characteristic: ClosedRange<AttributeHandle>] = [:]

    /// The L2CAP channels of this user.
    var channels: [UserChannel] = []

    /// Whether the user has asked to pair here.
    var hasAskedToPair = false
    /// Whether to pair again as soon as a pairing has ended here.
    var pairsAgain = false
    /// Whether the agent was asked or shown something, so that the end of the pairing has to follow.
    var awaitsPairingEnd = false

    struct StreamKey: Hashable {
        var characteristic: SimulatedService.Characteristic
        var isIndicated = false
    }

    struct Stream {
        var identifier: UInt32
        var last: UInt32 = 0
    }

    struct Outgoing {
        var way: Way
        var count: Int
        /// Whether the values are as long as may be.
        var isFull = false

        enum Way { case command, notification, update }
    }
}
