import BluetoothBase
import BluetoothHCI

/// Which peers are to be connected to, and what the controller does about it.
///
/// A controller initiates one connection at a time. Several peers wanted at once go into its filter accept list, so
/// that one which is away does not keep the others waiting; where that list is too short, or absent, they take turns.
struct Initiator: Sendable {
    struct Attempt: Sendable {
        let identifier: ConnectionAttempt
        let peer: DeviceAddress
        let deadline: Instant?
        /// How often the connection was reported and then failed to be established.
        var failures = 0
    }

    enum State: Equatable, Sendable {
        case idle
        /// The controller listens for these peers, or has been told to.
        case initiating([DeviceAddress])
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
    mutating func rotate(_ peers: [DeviceAddress]) {
        let served = attempts.filter { peers.contains($0.peer) }
        attempts.removeAll { peers.contains($0.peer) }
        attempts.append(contentsOf: served)
    }

    /// Takes out the attempt for a peer that has answered.
    mutating func take(_ peer: DeviceAddress) -> Attempt? {
        guard let index = attempts.firstIndex(where: { $0.peer.isSameDevice(as: peer) }) else { return nil }
        return attempts.remove(at: index)
    }
}

extension DeviceAddress {
    /// Whether two addresses name one device: an address the controller resolved to an identity is that identity.
    func isSameDevice(as other: DeviceAddress) -> Bool {
        value == other.value && kind.rawValue & 1 == other.kind.rawValue & 1
    }
}
