import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// What a shared host keeps for one link beside what the host itself keeps: who uses it, and for what.
struct LinkRecord: Sendable {
    let identifier: LinkIdentifier
    let peer: PeerID
    let role: LinkRole
    /// False once the link is gone, until another takes its slot.
    var isInUse = true
    /// The users who asked for the link. The host ends one that it made as a central after the last of them.
    var holders: [UserID] = []
    /// ATT_MTU as the users know it, in octets.
    var mtu = 23
    /// Whether ATT_MTU is settled, so that those who wait for the link may have it.
    var isReady = false
    /// Whether the host has been told to end the link.
    var isEnding = false
    /// Those who wait for the link to be ready.
    var awaitingReadiness: [UserCall] = []
    /// What to give as the reason for its end, instead of the controller's.
    var endReason: DisconnectReason?

    /// The client operations that have been started, oldest first.
    var operations: [PendingOperation] = []
    var subscriptions: [SubscriptionRecord] = []
    /// Client Characteristic Configuration descriptors found so far, by the handles of the values.
    var configurationDescriptors: [AttributeHandle: AttributeHandle] = [:]
    var requests: [PendingRequest] = []
    var preparation = LinkPreparation()
    /// The handles of the peer's Generic Attribute service, once they are known.
    var genericAttribute: ClosedRange<AttributeHandle>?

    var credits = SendCredits()
    var indications = IndicationQueue()
    /// The users who asked for received values to be held back.
    var receivingHolds: [UserID] = []
    /// What the peer is subscribed to of ours, by the handles of the values.
    var peerSubscriptions: [AttributeHandle: GATTClientConfiguration] = [:]
    /// The user tokens to be completed when the link has gone.
    var awaitingEnd: [UserCall] = []

    init(identifier: LinkIdentifier, peer: PeerID, role: LinkRole) {
        self.identifier = identifier
        self.peer = peer
        self.role = role
    }
}

/// A call as its result is addressed.
struct UserCall: Equatable, Sendable {
    let user: UserID
    let token: CallToken
}

/// A client operation under way, and who wants its result.
struct PendingOperation: Sendable {
    enum Purpose: Equatable, Sendable {
        case call(UserCall)
        /// The exchange of ATT_MTU, after which the link is ready.
        case readiness
        /// A step of the subscription to the value at this handle.
        case subscription(AttributeHandle)
        /// A step of what is found out about each peer.
        case preparation
    }

    let identifier: GATTClient.OperationID
    let purpose: Purpose
    /// Whether the result holds all primary services of the peer.
    let findsAllServices: Bool
}

/// A request to the controller that belongs to a link.
struct PendingRequest: Sendable {
    let identifier: RequestIdentifier
    let call: UserCall
}

/// One characteristic of a peer, and the users who want its values.
struct SubscriptionRecord: Sendable {
    enum State: Equatable, Sendable {
        case off
        /// Looking for the Client Characteristic Configuration.
        case finding
        case enabling
        case on
        case disabling
    }

    struct Holder: Sendable {
        let call: UserCall
        /// Whether the user knows that its subscription has begun.
        var isConfirmed = false
    }

    let request: SubscriptionRequest
    var state = State.off
    var holders: [Holder] = []
    /// Those who have unsubscribed and wait for the peer to agree; values still reach them.
    var leaving: [UserCall] = []
}

/// The credits of one link: how many values that nobody answers each user has on their way.
struct SendCredits: Sendable {
    private struct Run: Sendable {
        let user: UserID
        var count: Int
    }

    /// Whose values wait, in the order in which they were handed to the host.
    private var runs: [Run] = []
    private var head = 0
    private(set) var outstanding = 0
    /// Credits to be given back to their users at the end of the turn.
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

    /// At most `waiting` of the values are still with the host: the credits of the others go back.
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

    /// A credit goes back although nothing was sent for it, or what was sent has been confirmed.
    mutating func giveBack(_ count: Int, to user: UserID) {
        if let index = returned.firstIndex(where: { $0.user == user }) {
            returned[index].count += count
        } else {
            returned.append((user, count))
        }
    }

    mutating func clearReturned() { returned.removeAll(keepingCapacity: true) }

    /// The user is gone; what it has on its way is nobody's.
    mutating func forget(_ user: UserID) { returned.removeAll { $0.user == user } }
}

/// The indications that wait for the one before to be confirmed (Core 5.4, Vol 3, Part F, 3.4.7.2).
struct IndicationQueue: Sendable {
    struct Entry: Sendable {
        let call: UserCall
        let handle: AttributeHandle
        let value: [UInt8]
        /// Whether it took a credit, to be given back when it is confirmed.
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

    /// Takes out what a user has not sent yet. One that has been sent is still waited for, on nobody's behalf.
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
