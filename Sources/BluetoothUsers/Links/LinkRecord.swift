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
    var preparation = LinkPreparation(serviceChanged: 0)
    var caching = AttributeCaching()

    /// Whether a pairing question on this link is waiting for an answer.
    var awaitsAgent = false
    /// The calls that wait for the link to be secured.
    var awaitingSecurity: [UserCall] = []

    /// The open channels of users, those being opened, and those to be requested again once the link has more security.
    var channels: [ChannelRecord] = []
    var channelOpenings: [ChannelOpening] = []
    var refusedChannels: [RefusedChannel] = []
    /// The calls that wait for the peer to accept other limits of a channel.
    var reconfigurations: [(channel: CreditBasedChannel.ID, call: UserCall)] = []

    var credits = SendCredits()
    var indications = IndicationQueue()
    /// The users that asked to hold back received values.
    var receivingHolds: [UserID] = []
    /// The peer's subscriptions to our values, by value handle.
    var peerSubscriptions: [AttributeHandle: GATTClientConfiguration] = [:]
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

/// A call, identified by its user and token.
struct UserCall: Sendable {
    let user: UserID
    let token: CallToken
    /// Whether it keeps the order of its user's calls: `HostCall.keepsOrder`.
    var keepsOrder = true
    /// The link on which later calls of the user wait for this call to end; nil if none do.
    var turn: LinkIdentifier?
}

extension UserCall {
    init(_ call: HostCall) { self.init(user: call.user, token: call.token, keepsOrder: call.keepsOrder) }
}

extension UserCall: Hashable {
    static func == (one: UserCall, other: UserCall) -> Bool { one.user == other.user && one.token == other.token }

    func hash(into hasher: inout Hasher) {
        hasher.combine(user)
        hasher.combine(token)
    }
}

/// A client operation in progress, and the receiver of its result.
struct PendingOperation: Sendable {
    enum Purpose: Equatable, Sendable {
        case call(UserCall)
        /// The ATT_MTU exchange, after which the link is ready.
        case readiness
        /// A step of the subscription to the value at this handle.
        case subscription(AttributeHandle)
        /// A step of the link's preparation.
        case preparation
        /// Reads the Database Hash, which shows whether cached attributes are still valid.
        case databaseHash
    }

    let identifier: GATTClient.OperationID
    let purpose: Purpose
    /// Whether the result contains all primary services of the peer.
    let findsAllServices: Bool
    /// The operation that the caller requested.
    let operation: GATTClientOperation
    /// Whether the operation may be repeated once the link has more security.
    let isRepeatable: Bool
    /// The operations that this one must not overtake.
    let lane: OperationLane
    /// How often the operation has started. It starts again if the peer's services changed meanwhile, or if its bearer
    /// was closed.
    let beginnings: UInt8
    /// Whether attributes that the operation concerns have changed since it was requested.
    private(set) var isOutdated = false
    /// How often the peer's attribute cache had been dropped when the operation started.
    let dropCount: UInt32

    mutating func outdate() { isOutdated = true }
}

/// A request to the controller concerning a link.
struct PendingRequest: Sendable {
    let identifier: RequestIdentifier
    let call: UserCall
}

/// The send credits of one link: for each user, the number of values in flight.
struct SendCredits: Sendable {
    private struct Run: Sendable {
        let user: UserID
        var count: Int
    }

    /// The users whose values are in flight, in the order in which the host received them.
    private var runs: [Run] = []
    private var head = 0
    private(set) var outstanding = 0
    /// The credits to return to their users at the end of the turn.
    private(set) var returned: [(user: UserID, count: Int)] = []

    /// Records that a user's value was passed to the host.
    mutating func take(for user: UserID) {
        outstanding += 1
        if head < runs.count, runs[runs.count - 1].user == user {
            runs[runs.count - 1].count += 1
        } else {
            runs.append(Run(user: user, count: 1))
        }
    }

    /// Returns the credits of sent values. At most `waiting` of the outstanding values are still queued in the host.
    mutating func settle(waiting: Int) {
        var sent = outstanding - waiting
        guard sent > 0 else { return }
        outstanding -= sent
        while sent > 0, head < runs.count {
            let count = min(sent, runs[head].count)
            giveBack(count, to: runs[head].user)
            runs[head].count -= count
            sent -= count
            if runs[head].count == 0 { head += 1 }
        }
        if head == runs.count {
            runs.removeAll(keepingCapacity: true)
            head = 0
        } else if head > 64 {
            runs.removeFirst(head)
            head = 0
        }
    }

    /// Returns credits that were not used, or whose indication was confirmed.
    mutating func giveBack(_ count: Int, to user: UserID) {
        if let index = returned.firstIndex(where: { $0.user == user }) {
            returned[index].count += count
        } else {
            returned.append((user, count))
        }
    }

    /// Whether the user's values in flight use up all of its credit.
    @inline(__always)
    func isExhausted(_ user: UserID) -> Bool {
        outstanding >= SharedHost.sendCredit && inFlight(user) >= SharedHost.sendCredit
    }

    private func inFlight(_ user: UserID) -> Int {
        var count = 0
        for run in runs[head...] where run.user == user { count += run.count }
        return count
    }

    /// The user's credits in use, from its point of view: those in flight, and those returned but not yet reported to
    /// it.
    func taken(by user: UserID) -> Int { inFlight(user) + (returned.first { $0.user == user }?.count ?? 0) }

    /// Records that a user was notified of some of its returned credits.
    mutating func tell(_ count: Int, to user: UserID) {
        guard let index = returned.firstIndex(where: { $0.user == user }) else { return }
        returned[index].count -= count
        if returned[index].count == 0 { returned.remove(at: index) }
    }

    mutating func clearReturned() { returned.removeAll(keepingCapacity: true) }

    /// Removes a user that has detached. Its values in flight no longer belong to any user.
    mutating func forget(_ user: UserID) { returned.removeAll { $0.user == user } }
}

/// The indications that wait for the previous one to be confirmed (Core 5.4, Vol 3, Part F, 3.4.7.2).
struct IndicationQueue: Sendable {
    struct Entry: Sendable {
        let call: UserCall
        let handle: AttributeHandle
        let value: [UInt8]
        /// Whether the indication took a credit, which is returned when it is confirmed.
        let tookCredit: Bool
    }

    private var entries: [Entry] = []
    private var head = 0
    /// Whether the first indication has been sent.
    private(set) var isFirstSent = false

    /// The maximum number of indications per link.
    static let capacity = 4096

    var first: Entry? { head < entries.count ? entries[head] : nil }
    var isFull: Bool { entries.count - head >= Self.capacity }
    var all: ArraySlice<Entry> { entries[head...] }

    mutating func append(_ entry: Entry) { entries.append(entry) }

    /// The first indication has been sent. It waits for its confirmation.
    mutating func firstSent() { isFirstSent = true }

    mutating func removeFirst() {
        isFirstSent = false
        head += 1
        guard head == entries.count || head > 64 else { return }
        entries.removeFirst(head)
        head = 0
    }

    /// Removes matching indications that have not been sent. If the first one was sent, its confirmation is still
    /// awaited.
    mutating func remove(where isMeant: (Entry) -> Bool) -> [Entry] {
        let keepsFirst = isFirstSent
        var removed: [Entry] = []
        var index = head + (keepsFirst ? 1 : 0)
        while index < entries.count {
            if isMeant(entries[index]) { removed.append(entries.remove(at: index)) } else { index += 1 }
        }
        if keepsFirst, let first, isMeant(first) {
            removed.insert(first, at: 0)
            entries[head] = Entry(
                call: UserCall(user: first.call.user, token: .none), handle: first.handle, value: [],
                tookCredit: first.tookCredit)
        }
        return removed
    }
}
