import BluetoothBase
import BluetoothGAP
import BluetoothHCI

/// Connecting: which peers are wanted, and what the controller does about it.
///
/// A controller initiates one connection at a time. Several peers wanted at once go into its filter accept list, so
/// that one which is away does not keep the others waiting. Where that list is too short, or absent, they take turns.
struct Initiator: Hashable, Sendable {
    /// The commands that lead to a connection, or call it off.
    enum Step: Equatable, Sendable {
        case addToAcceptList, create, cancel
    }

    private enum State: Hashable, Sendable {
        case idle
        /// The controller listens for these peers, or was asked to: until others have their turn, where there are more.
        case initiating([Target], until: Instant?)
        /// Create Connection Cancel was sent. Until then the controller has the time to report the end.
        case cancelling(until: Instant)
    }

    private var attempts: [Attempt] = []
    private var state: State = .idle
    /// Whether other activities may have had to yield. Stays so until no attempt is left.
    private(set) var blocksOtherActivities = false
    /// How often in a row the controller did not allow to initiate, although nothing is known that prevents it.
    private var refusals = 0
    /// Whether the controller has refused to take a peer into its filter accept list.
    private var isAcceptListUnusable = false
    /// What the controller makes of attempts without any use to them.
    private var backoff = Backoff()
    private var nextNumber: UInt32 = 1

    static let maximumAttempts = 64
    /// The most entries of the filter accept list to use; filling it takes a command for each.
    private static let maximumListedPeers = 32
    private static let maximumRefusals = 2
    /// The window is as long: while it initiates, the controller listens all the time.
    static let scanInterval = Duration.milliseconds(60)
    /// How long each group of peers is tried while others wait.
    private static let turn = Duration.seconds(4)
    /// How long to wait for a cancelled connection to be reported: some controllers never do.
    private static let cancelTimeout = Duration.seconds(2)

    /// How long to try an address that was resolved. The longest advertising interval is 10.24 s.
    private static let sightingLifetime = Duration.seconds(15)

    /// Whether the controller neither initiates nor calls that off.
    var isIdle: Bool {
        if case .idle = state { true } else { false }
    }

    /// Whether an attempt is being called off, so that a connection may still come of it.
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

    /// Puts an attempt back whose link was lost before it was reported.
    mutating func resume(_ attempt: Attempt) { attempts.append(attempt) }

    /// Takes out an attempt that is called off. False where it is not waiting here.
    mutating func remove(_ identifier: ConnectionAttempt) -> Bool {
        guard let index = attempts.firstIndex(where: { $0.identifier == identifier }) else { return false }
        attempts.remove(at: index)
        return true
    }

    /// Takes out the attempts that lead nowhere any more.
    mutating func removeAll(where isMeant: (ConnectionRoute) -> Bool) -> [Effect] {
        let removed = attempts.filter { isMeant($0.route) }
        attempts.removeAll { isMeant($0.route) }
        return removed.map { $0.failed(.cancelled) }
    }

    /// Whether a peer, given by its lasting name, is being connected to.
    func wants(_ peer: PeerID, in table: PeerTable) -> Bool {
        attempts.contains { table.lastingName(of: $0.peer) == peer }
    }

    /// The peers that could be listened for, in the order in which they were asked for.
    ///
    /// - Parameters:
    ///   - isOpen: whether a route leads anywhere now.
    ///   - isLinked: whether there is a link to a peer, even one that has not been reported: a controller makes no second
    ///     one.
    ///   - address: the address under which to listen; nil for a peer that has to be searched for.
    /// - Returns: the peers, and whether there are others that have to be searched for.
    func candidates(
        in table: PeerTable, isOpen: (ConnectionRoute) -> Bool, isLinked: (PeerID) -> Bool,
        address: (PeerID) -> DeviceAddress?
    ) -> (targets: [Target], needsSearch: Bool) {
        var targets: [Target] = []
        var needsSearch = false
        for attempt in attempts {
            let peer = table.lastingName(of: attempt.peer)
            // Two names may have turned out to mean one peer.
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

    /// A peer was received at a private address.
    ///
    /// - Returns: whether that is news for an attempt to connect to it.
    mutating func sighted(_ peer: PeerID, at address: DeviceAddress, in table: PeerTable, at now: Instant) -> Bool {
        guard let index = attempts.firstIndex(where: { table.lastingName(of: $0.peer) == peer }) else { return false }
        return attempts[index].noteSighting(
            Sighting(address: address, end: now.advanced(by: Self.sightingLifetime)))
    }

    /// Moves one step towards the peers that are wanted.
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

    /// The first of the peers that the controller can be asked for at once: several that advertise, or one in a subevent.
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
        /// The controller will not initiate now.
        case refused([Target], HCIStatus)
    }

    /// Takes the answer to a step.
    mutating func answered(_ step: Step, _ status: HCIStatus) -> Outcome {
        switch (state, step) {
        case (_, .addToAcceptList):
            // The peers have to take turns.
            if status != .success { isAcceptListUnusable = true }
        case (.initiating, .create) where status == .success:
            refusals = 0
        case (.initiating(let targets, _), .create):
            state = .idle
            return .refused(targets, status)
        case (.cancelling, .cancel) where status != .success:
            // There is nothing to cancel, so nothing needs to be waited for.
            state = .idle
        default: break
        }
        return .effects([])
    }

    /// The controller refused to initiate, and nothing the host knows of explains it.
    mutating func refused(
        _ targets: [Target], _ status: HCIStatus, in table: PeerTable, at now: Instant
    ) -> [Effect] {
        if status == .commandDisallowed, refusals < Self.maximumRefusals {
            // It may still be at an earlier attempt, which this host believes to have ended.
            refusals += 1
            return cancel(at: now)
        }
        refusals = 0
        return fail(targets, .controller(status), in: table)
    }

    /// The controller has connected to a peer: the attempt that wanted this, if any.
    mutating func connectionMade(with peer: PeerID, in table: PeerTable, at now: Instant) -> Attempt? {
        defer { state = .idle }
        if let attempt = take(peer, in: table) {
            backoff.succeeded()
            return attempt
        }
        if case .initiating = state { backoff.failed(at: now) }
        return nil
    }

    /// LE Connection Complete with an error, or after a cancellation.
    ///
    /// - Parameters:
    ///   - peer: the one the report names; not every controller fills that in.
    ///   - retries: how many failures of one attempt are too few to give it up.
    mutating func connectionFailed(
        _ status: HCIStatus, with peer: PeerID?, in table: PeerTable, retries: Int, at now: Instant
    ) -> [Effect] {
        var effects: [Effect] = []
        switch state {
        case .idle: return []
        case .cancelling: break
        case .initiating(let targets, _):
            if status == .connectionFailedToBeEstablished {
                // Where several were listened for and none of them is named, the failure cannot be assigned.
                let failed = targets.count == 1 ? targets[0] : targets.first { $0.peer == peer }
                if let failed, let attempt = take(failed.peer, in: table) {
                    effects = retry(attempt, limit: retries)
                } else {
                    backoff.failed(at: now)
                }
            } else if status == .unknownConnectionIdentifier {
                // It ends what nobody has called off.
                backoff.failed(at: now)
            } else {
                effects = fail(targets, .controller(status), in: table)
            }
        }
        state = .idle
        return effects
    }

    /// Puts an attempt whose connection failed to be established at the end of the line, or gives it up.
    mutating func retry(_ attempt: Attempt, limit: Int) -> [Effect] {
        var attempt = attempt
        attempt.noteFailure()
        if attempt.failures > limit { return [attempt.failed(.connectionFailedToBeEstablished)] }
        attempts.append(attempt)
        return []
    }

    /// Takes out the attempt at a peer, given by its lasting name.
    mutating func take(_ peer: PeerID, in table: PeerTable) -> Attempt? {
        guard let index = attempts.firstIndex(where: { table.lastingName(of: $0.peer) == peer }) else { return nil }
        return attempts.remove(at: index)
    }

    private mutating func fail(_ targets: [Target], _ error: HostError, in table: PeerTable) -> [Effect] {
        targets.compactMap { take($0.peer, in: table)?.failed(error) }
    }

    /// Attempts that have run out of time end, and turns change.
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

    /// Sends those who had their turn to the end of the line.
    private mutating func rotate(_ targets: [Target], in table: PeerTable) {
        let hadTurn = { (attempt: Attempt) in targets.contains { $0.peer == table.lastingName(of: attempt.peer) } }
        let served = attempts.filter(hadTurn)
        attempts.removeAll(where: hadTurn)
        attempts.append(contentsOf: served)
    }

    /// The controller was reset. The attempts stay.
    mutating func reset() {
        state = .idle
        blocksOtherActivities = false
        refusals = 0
        isAcceptListUnusable = false
        backoff.succeeded()
    }

    /// Ends every attempt: the controller is gone for good.
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
