import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothL2CAP

/// The state of one link that a shared host keeps in addition to the host's own: its users and their calls.
struct LinkRecord: Sendable {
    let identifier: LinkIdentifier
    let peer: PeerID
    let role: LinkRole
    let beginning: Instant
    /// Whether users can get the link, and whether it has ended.
    var readiness: LinkReadiness
    /// False once the link has ended, until another link uses its slot.
    @inline(__always)
    var isInUse: Bool { readiness.isInUse }
    /// The users that requested the link. The host disconnects a link that it established as the central when the last
    /// of them releases it.
    var holders: [UserID] = []
    /// The ATT_MTU reported to the users, in octets.
    var mtu = ATTBearer.defaultMTU
    /// The calls that wait for the link to be ready.
    var awaitingReadiness: [WantedConnections.Wanted] = []
    /// The reason to report when the link ends, instead of the controller's.
    var endReason: DisconnectReason?

    /// The operations of the GATT client, in progress and waiting.
    var scheduler = OperationScheduler()
    var subscriptions = Subscriptions()
    var requests: [PendingRequest] = []
    /// The user that receives the periodic advertising syncs transferred by the peer.
    var syncReceiver: UserID?
    /// The calls that requested reports of path loss and of transmit power.
    var pathLossReports: UserCall?
    var transmitPowerReports: UserCall?
    var serviceChanges = ServiceChanges()
    var preparation = LinkPreparation(isChangeWatched: false)
    var caching = AttributeCaching()

    /// The calls and channels that wait for the link to be secured.
    var security = SecurityGate()

    /// The open channels of users, and those being opened.
    var channels: [ChannelRecord] = []
    var channelOpenings: [ChannelOpening] = []
    /// The calls that wait for the peer to accept other limits of a channel.
    var reconfigurations: [(channel: CreditBasedChannel.ID, call: UserCall)] = []

    var credits = SendCredits()
    var indications = IndicationQueue()
    /// The users that asked to hold back received values.
    var receivingHolds: [UserID] = []
    /// The peer's subscriptions to our values.
    var peerSubscriptions = PeerSubscriptions()
    /// The calls that end when the link has ended.
    var awaitingEnd: [UserCall] = []

    init(identifier: LinkIdentifier, peer: PeerID, role: LinkRole, beginning: Instant) {
        self.beginning = beginning
        self.identifier = identifier
        self.peer = peer
        self.role = role
        readiness = LinkReadiness(role)
    }
}
