import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothL2CAP

/// The state of one link in a shared host, beside that in the host itself: its users and their calls.
struct LinkRecord: Sendable {
    let identifier: LinkIdentifier
    let peer: PeerID
    let role: LinkRole
    let beginning: Instant
    /// When its users get it, and that it ends.
    var readiness: LinkReadiness
    /// False once the link is gone, until another takes its slot.
    @inline(__always)
    var isInUse: Bool { readiness.isInUse }
    /// The users that asked for the link. The host ends a link that it made as a central after the last of them.
    var holders: [UserID] = []
    /// The ATT_MTU reported to the users, in octets.
    var mtu = ATTBearer.defaultMTU
    /// The calls waiting for the link to be ready.
    var awaitingReadiness: [WantedConnections.Wanted] = []
    /// The reason to report for its end, instead of the controller's.
    var endReason: DisconnectReason?

    /// The operations of the GATT client, under way and waiting.
    var scheduler = OperationScheduler()
    var subscriptions = Subscriptions()
    var requests: [PendingRequest] = []
    /// Who takes the periodic advertising of which the peer tells.
    var syncReceiver: UserID?
    /// Who has asked for reports of the loss of signal, and of power.
    var pathLossReports: UserCall?
    var transmitPowerReports: UserCall?
    var serviceChanges = ServiceChanges()
    var preparation = LinkPreparation(serviceChanged: 0)
    var caching = AttributeCaching()

    /// Whether a question about pairing on this link waits for its answer.
    var awaitsAgent = false
    /// The calls that wait for the link to be protected.
    var awaitingSecurity: [UserCall] = []

    /// The channels of users, those asked for, and those to be asked for again on a better protected link.
    var channels: [ChannelRecord] = []
    var channelOpenings: [ChannelOpening] = []
    var refusedChannels: [RefusedChannel] = []
    /// Calls that wait for the peer to agree to other limits of a channel.
    var reconfigurations: [(channel: CreditBasedChannel.ID, call: UserCall)] = []

    var credits = SendCredits()
    var indications = IndicationQueue()
    /// The users that asked to hold back received values.
    var receivingHolds: [UserID] = []
    /// The peer's subscriptions to our values, by value handle.
    var peerSubscriptions: [AttributeHandle: GATTClientConfiguration] = [:]
    /// The calls to end when the link is gone.
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
    /// The link on which the later calls of its user wait for its end; nil if none do.
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

/// A client operation under way, and the receiver of its result.
struct PendingOperation: Sendable {
    enum Purpose: Equatable, Sendable {
        case call(UserCall)
        /// The exchange of ATT_MTU, after which the link is ready.
        case readiness
        /// A step of the subscription to the value at this handle.
        case subscription(AttributeHandle)
        /// A step of the preparation of the link.
        case preparation
        /// The Database Hash, which tells whether what was discovered earlier still holds.
        case databaseHash
    }

    let identifier: GATTClient.OperationID
    let purpose: Purpose
    /// Whether the result holds all primary services of the peer.
    let findsAllServices: Bool
    /// What the caller asked for.
    let operation: GATTClientOperation
    /// Whether it is to be repeated on a better protected link.
    let isRepeatable: Bool
    /// Which operations it may not overtake.
    let lane: OperationLane
    /// How often it has begun: again where the peer's services changed meanwhile, or its bearer was closed.
    let beginnings: UInt8
    /// Whether attributes that it concerns have changed since it was called for.
    private(set) var isOutdated = false
    /// How often what was known of the server had been dropped when the operation began.
    let dropCount: UInt32

    mutating func outdate() { isOutdated = true }
}

/// A request to the controller for a link.
struct PendingRequest: Sendable {
    let identifier: RequestIdentifier
    let call: UserCall
}

/// The credits of one link: how many unacknowledged values of each user are in flight.
struct SendCredits: Sendable {
    private struct Run: Sendable {
        let user: UserID
        var count: Int
    }

    /// The users whose values wait, in the order the host got them.
    private var runs: [Run] = []
    private var head = 0
    private(set) var outstanding = 0
    /// Credits to return to their users at the end of the turn.
    private(set) var returned: [(user: UserID, count: Int)] = []

    /// A value of a user has gone to the host.
    mutating func take(for user: UserID) {
        outstanding += 1
        if head < runs.count, runs[runs.count - 1].user == user {
            runs[runs.count - 1].count += 1
        } else {
            runs.append(Run(user: user, count: 1))
        }
    }

    /// At most `waiting` of the values are still with the host: returns the credits of the others.
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

    /// Returns a credit that was not used, or whose indication was confirmed.
    mutating func giveBack(_ count: Int, to user: UserID) {
        if let index = returned.firstIndex(where: { $0.user == user }) {
            returned[index].count += count
        } else {
            returned.append((user, count))
        }
    }

    /// Whether a user's values in flight take all of its credit.
    @inline(__always)
    func isExhausted(_ user: UserID) -> Bool {
        outstanding >= SharedHost.sendCredit && inFlight(user) >= SharedHost.sendCredit
    }

    private func inFlight(_ user: UserID) -> Int {
        var count = 0
        for run in runs[head...] where run.user == user { count += run.count }
        return count
    }

    /// The credits that a user has taken and not been given back, as far as it knows.
    func taken(by user: UserID) -> Int { inFlight(user) + (returned.first { $0.user == user }?.count ?? 0) }

    /// A user gets some of its returned credits.
    mutating func tell(_ count: Int, to user: UserID) {
        guard let index = returned.firstIndex(where: { $0.user == user }) else { return }
        returned[index].count -= count
        if returned[index].count == 0 { returned.remove(at: index) }
    }

    mutating func clearReturned() { returned.removeAll(keepingCapacity: true) }

    /// The user is gone; its values in flight belong to no user.
    mutating func forget(_ user: UserID) { returned.removeAll { $0.user == user } }
}

/// The indications that wait for the one before to be confirmed (Core 5.4, Vol 3, Part F, 3.4.7.2).
struct IndicationQueue: Sendable {
    struct Entry: Sendable {
        let call: UserCall
        let handle: AttributeHandle
        let value: [UInt8]
        /// Whether it took a credit, which is returned on confirmation.
        let tookCredit: Bool
    }

    private var entries: [Entry] = []
    private var head = 0
    /// Whether the first one has been sent.
    var isFirstSent = false

    /// How many may wait on one link.
    static let capacity = 4096

    var first: Entry? { head < entries.count ? entries[head] : nil }
    var isFull: Bool { entries.count - head >= Self.capacity }
    var all: ArraySlice<Entry> { entries[head...] }

    mutating func append(_ entry: Entry) { entries.append(entry) }

    mutating func removeFirst() {
        isFirstSent = false
        head += 1
        guard head == entries.count || head > 64 else { return }
        entries.removeFirst(head)
        head = 0
    }

    /// Removes a user's unsent indications. The confirmation of a sent one is still awaited.
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
