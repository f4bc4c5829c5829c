import BluetoothBase
import BluetoothGAP
import BluetoothHCI

/// Connecting: the requested peers, and the controller's state.
///
/// A controller initiates one connection at a time. If several peers are requested, they are added to its filter accept
/// list, so that an absent peer does not delay the others. If the list is too short, or missing, the peers take turns.
struct Initiator: Hashable, Sendable {
    /// The commands that initiate a connection, or cancel it.
    enum Step: Equatable, Sendable {
        case addToAcceptList, create, cancel
    }

    private enum State: Hashable, Sendable {
        case idle
        /// The controller is listening for these peers, or has been asked to. `until` is the end of their turn, if
        /// other peers are waiting.
        case initiating([Target], until: Instant?)
        /// Create Connection Cancel was sent. The controller has until this time to report the end of the attempt.
        case cancelling(until: Instant)
    }

    private var attempts: [Attempt] = []
    private var state: State = .idle
    /// Whether other activities may have had to yield. Stays true until no attempt is left.
    private(set) var blocksOtherActivities = false
    /// The number of consecutive times that the controller disallowed initiating for no reason known to the host.
    private var refusals = 0
    /// Whether the controller has refused to add a peer to its filter accept list.
    private var isAcceptListUnusable = false
    /// Delays the next attempt after the controller has ended attempts without a result.
    private var backoff = Backoff()
    private var nextNumber: UInt32 = 1

    static let maximumAttempts = 64
    /// The maximum number of filter accept list entries to use, because each takes a command.
    private static let maximumListedPeers = 32
    private static let maximumRefusals = 2
    /// The scan window has the same length, so the controller listens all the time while it initiates.
    static let scanInterval = Duration.milliseconds(60)
    /// The time for which each group of peers is tried while others wait.
    private static let turn = Duration.seconds(4)
    /// The time to wait for the report of a cancelled connection attempt. Some controllers never send it.
    private static let cancelTimeout = Duration.seconds(2)

    /// The time for which a resolved address is tried. The longest advertising interval is 10.24 s.
    private static let sightingLifetime = Duration.seconds(15)

    /// Whether the controller is neither initiating nor cancelling a connection.
    var isIdle: Bool {
        if case .idle = state { true } else { false }
    }

    /// Whether an attempt is being cancelled, so that it may still lead to a connection.
    var isCancelling: Bool {
        if case .cancelling = state { true } else { false }
    }

    var isFull: Bool { attempts.count >= Self.maximumAttempts }

    var attemptCount: Int { attempts.count }

    var nextDeadline: Instant? {
        var deadline: Instant?
        for attempt in attempts {
            deadline = earliest(deadline, earliest(attempt.deadline, attempt.sighting?.end))
        }
        switch state {
        case .idle: return attempts.isEmpty ? nil : earliest(deadline, backoff.deadline)
        case .initiating(_, let until): return earliest(deadline, until)
        case .cancelling(let until): return earliest(deadline, until)
        }
    }

    // MARK: Calls

    mutating func add(_ peer: PeerID, deadline: Instant?, route: ConnectionRoute) -> ConnectionAttempt {
        let identifier = ConnectionAttempt(number: nextNumber)
        nextNumber &+= 1
        attempts.append(Attempt(identifier: identifier, peer: peer, deadline: deadline, route: route))
        return identifier
    }

    /// Puts back an attempt whose link was lost before it was reported.
    mutating func resume(_ attempt: Attempt) { attempts.append(attempt) }

    /// Removes a cancelled attempt. Returns false if it is not waiting here.
    mutating func remove(_ identifier: ConnectionAttempt) -> Bool {
        guard let index = attempts.firstIndex(where: { $0.identifier == identifier }) else { return false }
        attempts.remove(at: index)
        return true
    }

    /// Removes the attempts whose route no longer exists.
    mutating func removeAll(where isMeant: (ConnectionRoute) -> Bool) -> [Effect] {
        let removed = attempts.filter { isMeant($0.route) }
        attempts.removeAll { isMeant($0.route) }
        return removed.map { $0.failed(.cancelled) }
    }

    /// Whether the host is trying to connect to a peer, which is given by its lasting ID.
    func wants(_ peer: PeerID, in table: PeerTable) -> Bool {
        attempts.contains { table.lastingPeer(of: $0.peer) == peer }
    }

    /// The peers that the controller could try to connect to, in the order in which they were requested.
    ///
    /// - Parameters:
    ///   - isOpen: whether a route is usable now.
    ///   - isLinked: whether a link to a peer exists, even if it has not been reported. A controller does not make a
    ///     second one.
    ///   - address: the address for reaching a peer; nil if the host has to search for it.
    /// - Returns: the peers, and whether the host has to search for others.
    func candidates(
        in table: PeerTable, isOpen: (ConnectionRoute) -> Bool, isLinked: (PeerID) -> Bool,
        address: (PeerID) -> DeviceAddress?
    ) -> (targets: [Target], needsSearch: Bool) {
        var targets: [Target] = []
        var needsSearch = false
        for attempt in attempts {
            let peer = table.lastingPeer(of: attempt.peer)
            // Two names may turn out to belong to the same peer.
            guard isOpen(attempt.route), !isLinked(peer), !targets.contains(where: { $0.peer == peer }) else {
                continue
            }
            if let address = address(peer) ?? attempt.sighting?.address {
                targets.append(Target(peer: peer, address: address, route: attempt.route))
            } else {
                needsSearch = true
            }
        }
        return (targets, needsSearch)
    }

    /// Records that a peer was received with a private address.
    ///
    /// - Returns: whether an attempt to connect to the peer was missing this address.
    mutating func sighted(_ peer: PeerID, at address: DeviceAddress, in table: PeerTable, at now: Instant) -> Bool {
        guard let index = attempts.firstIndex(where: { table.lastingPeer(of: $0.peer) == peer }) else { return false }
        return attempts[index].noteSighting(
            Sighting(address: address, end: now.advanced(by: Self.sightingLifetime)))
    }

    /// Moves one step towards connecting to the requested peers.
    mutating func advance(
        _ verdict: RadioArbiter.Verdict, _ candidates: [Target], _ settings: Settings, at now: Instant
    ) -> [Effect] {
        guard verdict != .suspended else { return [] }
        let candidates = verdict == .stop ? [] : candidates
        let room = isAcceptListUnusable ? 0 : min(settings.acceptListSize, Self.maximumListedPeers)
        let targets = Self.group(candidates, upTo: max(1, room))
        let nextTurn = candidates.count == targets.count ? nil : now.advanced(by: Self.turn)
        switch state {
        case .idle:
            guard !targets.isEmpty else {
                blocksOtherActivities = false
                return []
            }
            guard verdict == .proceed, !backoff.waits(at: now) else { return [] }
            state = .initiating(targets, until: nextTurn)
            blocksOtherActivities = true
            return initiate(targets, settings)
        case .initiating(let current, let until):
            guard current == targets else { return cancel(at: now) }
            state = .initiating(current, until: nextTurn == nil ? nil : until ?? nextTurn)
            return []
        case .cancelling:
            return []
        }
    }

    /// The first peers that the controller can try at once: several that advertise, or one in a subevent.
    private static func group(_ candidates: [Target], upTo count: Int) -> [Target] {
        guard let first = candidates.first, first.phys != nil else { return Array(candidates.prefix(1)) }
        return Array(candidates.prefix { $0.phys != nil }.prefix(count))
    }

    private func initiate(_ targets: [Target], _ settings: Settings) -> [Effect] {
        var effects: [Effect] = []
        if targets.count > 1 {
            effects.append(.send(LEClearFilterAcceptList(), for: .none))
            for target in targets {
                let command = LEAddDeviceToFilterAcceptList(address: target.address)
                effects.append(.send(command, for: .connect(.addToAcceptList)))
            }
        }
        effects.append(.send(command(for: targets, settings), for: .connect(.create)))
        return effects
    }

    private mutating func cancel(at now: Instant) -> [Effect] {
        state = .cancelling(until: now.advanced(by: Self.cancelTimeout))
        return [.send(LECreateConnectionCancel(), for: .connect(.cancel))]
    }

    // MARK: The controller

    enum Outcome {
        case effects([Effect])
        /// The controller refused to initiate now.
        case refused([Target], HCIStatus)
    }

    /// Handles the answer to a step.
    mutating func answered(_ step: Step, _ status: HCIStatus) -> Outcome {
        switch (state, step) {
        case (_, .addToAcceptList):
            // The peers have to take turns instead.
            if status != .success { isAcceptListUnusable = true }
        case (.initiating, .create) where status == .success:
            refusals = 0
        case (.initiating(let targets, _), .create):
            state = .idle
            return .refused(targets, status)
        case (.cancelling, .cancel) where status != .success:
            // The controller has nothing to cancel, so the host need not wait for a report.
            state = .idle
        default: break
        }
        return .effects([])
    }

    /// Handles a refusal to initiate that no condition known to the host explains.
    mutating func refused(
        _ targets: [Target], _ status: HCIStatus, in table: PeerTable, at now: Instant
    ) -> [Effect] {
        if status == .commandDisallowed, refusals < Self.maximumRefusals {
            // The controller may still be processing an earlier attempt that this host considers ended.
            refusals += 1
            return cancel(at: now)
        }
        refusals = 0
        return fail(targets, .controller(status), in: table)
    }

    /// Handles a new connection. Returns the attempt that requested it, if any.
    mutating func connectionMade(with peer: PeerID, in table: PeerTable, at now: Instant) -> Attempt? {
        defer { state = .idle }
        if let attempt = take(peer, in: table) {
            backoff.succeeded()
            return attempt
        }
        if case .initiating = state { backoff.failed(at: now) }
        return nil
    }

    /// Handles LE Connection Complete with an error, or after a cancellation.
    ///
    /// - Parameters:
    ///   - peer: the peer that the event names. Not every controller fills it in.
    ///   - retries: the number of failures after which an attempt is still retried.
    mutating func connectionFailed(
        _ status: HCIStatus, with peer: PeerID?, in table: PeerTable, retries: Int, at now: Instant
    ) -> [Effect] {
        var effects: [Effect] = []
        switch state {
        case .idle: return []
        case .cancelling: break
        case .initiating(let targets, _):
            if status == .connectionFailedToBeEstablished {
                // If several peers were tried and the event names none of them, the failure cannot be attributed to an
                // attempt.
                let failed = targets.count == 1 ? targets[0] : targets.first { $0.peer == peer }
                if let failed, let attempt = take(failed.peer, in: table) {
                    effects = retry(attempt, limit: retries)
                } else {
                    backoff.failed(at: now)
                }
            } else if status == .unknownConnectionIdentifier {
                // The controller ended an attempt that was not cancelled.
                backoff.failed(at: now)
            } else {
                effects = fail(targets, .controller(status), in: table)
            }
        }
        state = .idle
        return effects
    }

    /// Moves an attempt whose connection failed to be established to the end of the queue, or fails it after too many
    /// retries.
    mutating func retry(_ attempt: Attempt, limit: Int) -> [Effect] {
        var attempt = attempt
        attempt.noteFailure()
        if attempt.failures > limit { return [attempt.failed(.connectionFailedToBeEstablished)] }
        attempts.append(attempt)
        return []
    }

    /// Removes and returns the attempt to connect to a peer, which is given by its lasting ID.
    mutating func take(_ peer: PeerID, in table: PeerTable) -> Attempt? {
        guard let index = attempts.firstIndex(where: { table.lastingPeer(of: $0.peer) == peer }) else { return nil }
        return attempts.remove(at: index)
    }

    private mutating func fail(_ targets: [Target], _ error: HostError, in table: PeerTable) -> [Effect] {
        targets.compactMap { take($0.peer, in: table)?.failed(error) }
    }

    /// Ends attempts that have timed out, and starts the next turn.
    mutating func fire(in table: PeerTable, at now: Instant) -> [Effect] {
        var effects: [Effect] = []
        while let index = attempts.firstIndex(where: { $0.deadline.map { $0 <= now } ?? false }) {
            effects.append(attempts.remove(at: index).failed(.timedOut))
        }
        for index in attempts.indices { attempts[index].expireSighting(at: now) }
        switch state {
        case .initiating(let targets, let until?) where until <= now:
            state = .initiating(targets, until: nil)
            rotate(targets, in: table)
        case .cancelling(let until) where until <= now: state = .idle
        case .initiating, .cancelling: break
        case .idle: _ = backoff.waits(at: now)
        }
        return effects
    }

    /// Moves the peers that have had their turn to the end of the queue.
    private mutating func rotate(_ targets: [Target], in table: PeerTable) {
        let hadTurn = { (attempt: Attempt) in targets.contains { $0.peer == table.lastingPeer(of: attempt.peer) } }
        let served = attempts.filter(hadTurn)
        attempts.removeAll(where: hadTurn)
        attempts.append(contentsOf: served)
    }

    /// Handles a reset of the controller. The attempts continue.
    mutating func reset() {
        state = .idle
        blocksOtherActivities = false
        refusals = 0
        isAcceptListUnusable = false
        backoff.succeeded()
    }

    /// Ends every attempt, because the controller is no longer available.
    mutating func abandon(_ error: HostError) -> [Effect] {
        defer { attempts.removeAll() }
        return attempts.map { $0.failed(error) }
    }

    var phaseName: PhaseName {
        switch state {
        case .idle: .idle
        case .initiating: .initiating
        case .cancelling: .cancelling
        }
    }
}
