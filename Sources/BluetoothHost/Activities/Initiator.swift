import BluetoothBase
import BluetoothHCI

/// Which peers are to be connected to, and what the controller does about it.
///
/// A controller initiates one connection at a time. Several peers wanted at once go into its filter accept list, so
/// that one which is away does not keep the others waiting; where that list is too short, or absent, they take turns.
struct Initiator: Sendable {
    struct Attempt: Sendable {
        let identifier: ConnectionAttempt
        /// The peer, under the name the caller used.
        let peer: PeerID
        let deadline: Instant?
        /// How often the connection was reported and then failed to be established.
        var failures = 0
    }

    /// A peer the controller listens for, and the address under which it does.
    struct Target: Equatable, Sendable {
        let peer: PeerID
        let address: DeviceAddress
    }

    enum State: Equatable, Sendable {
        case idle
        /// The controller listens for these peers, or has been told to.
        case initiating([Target])
        /// Create Connection Cancel was sent; the controller owes an LE Connection Complete until then.
        case cancelling(until: Instant)
    }

    var attempts: [Attempt] = []
    var state: State = .idle
    /// When it is the turn of peers that did not fit this time.
    var turnEnds: Instant?
    /// Set when the controller refused to initiate while scanning.
    var needsScannerIdle = false
    /// Whether the scanner or the advertiser may have made way.
    var isInTheWay = false
    /// How often in a row the controller did not allow to initiate, although nothing is known of that could hinder it.
    var refusals = 0
    /// Set when the controller would not take a peer into its filter accept list.
    var isAcceptListBroken = false
    var nextNumber: UInt32 = 1

    static let maximumAttempts = 64
    /// The most entries of the filter accept list to use; filling it takes a command for each.
    static let maximumListedPeers = 32
    static let maximumRefusals = 2
    /// The window is as long: while it initiates, the controller listens all the time.
    static let scanInterval = Duration.milliseconds(60)
    /// How long each group of peers is tried while others wait.
    static let turn = Duration.seconds(4)
    /// How long to wait for a cancelled connection to be reported: some controllers never do.
    static let cancelPatience = Duration.seconds(2)

    var isBusy: Bool { state != .idle }

    var nextDeadline: Instant? {
        var deadline: Instant?
        for attempt in attempts { deadline = earliest(deadline, attempt.deadline) }
        switch state {
        case .idle: return deadline
        case .initiating: return earliest(deadline, turnEnds)
        case .cancelling(let until): return earliest(deadline, until)
        }
    }

    /// Forgets what the controller did; the attempts stay.
    mutating func reset() {
        state = .idle
        needsScannerIdle = false
        isInTheWay = false
        refusals = 0
        isAcceptListBroken = false
    }

    /// Sends those who had their turn to the back of the line.
    mutating func rotate(_ targets: [Target], in table: PeerTable) {
        let isServed = { (attempt: Attempt) in targets.contains { $0.peer == table.lastingName(of: attempt.peer) } }
        let served = attempts.filter(isServed)
        attempts.removeAll(where: isServed)
        attempts.append(contentsOf: served)
    }

    /// Takes out the attempt for a peer that has answered.
    mutating func take(_ peer: PeerID, in table: PeerTable) -> Attempt? {
        guard let index = attempts.firstIndex(where: { table.lastingName(of: $0.peer) == peer }) else { return nil }
        return attempts.remove(at: index)
    }
}
