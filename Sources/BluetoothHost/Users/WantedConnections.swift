import BluetoothBase

/// The peers that users want links to, with one attempt for each peer.
struct WantedConnections: Sendable {
    struct Wanted: Sendable {
        let call: UserCall
        /// Its lasting identity.
        var peer: PeerID
        /// When the attempt begins; nil if it has begun.
        var start: Instant?
        let deadline: Instant?

        var isActive: Bool { start == nil }
    }

    private var wanted: [Wanted] = []
    /// The host's attempts under way.
    var attempts: [PeerID: ConnectionAttempt] = [:]

    /// The peers that are wanted, each once.
    var peers: [PeerID] {
        var seen: Set<PeerID> = []
        return wanted.compactMap { seen.insert($0.peer).inserted ? $0.peer : nil }
    }

    var nextDeadline: Instant? {
        var deadline: Instant?
        for one in wanted { deadline = earliest(deadline, earliest(one.start, one.deadline)) }
        return deadline
    }

    mutating func append(_ call: UserCall, _ peer: PeerID, _ request: ConnectRequest, at now: Instant) {
        wanted.append(
            Wanted(
                call: call, peer: peer, start: request.delay > .zero ? now.advanced(by: request.delay) : nil,
                deadline: request.timeout.map { now.advanced(by: $0) }))
    }

    func contains(where isMeant: (Wanted) -> Bool) -> Bool { wanted.contains(where: isMeant) }

    /// Whether a user wants a link to this peer now.
    func isActive(_ peer: PeerID) -> Bool { wanted.contains { $0.peer == peer && $0.isActive } }

    /// Some peers turned out to be known under other identities.
    mutating func rename(_ lastingName: (PeerID) -> PeerID) {
        for index in wanted.indices { wanted[index].peer = lastingName(wanted[index].peer) }
        attempts = Dictionary(attempts.map { (lastingName($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    /// Removes requests. Returns their calls.
    mutating func removeAll(where isMeant: (Wanted) -> Bool) -> [UserCall] {
        let removed = wanted.filter(isMeant)
        wanted.removeAll(where: isMeant)
        return removed.map(\.call)
    }

    /// Removes the requests that have timed out, and begins those that are due.
    mutating func expire(at now: Instant) -> [UserCall] {
        let expired = removeAll { $0.deadline.map { $0 <= now } ?? false }
        for index in wanted.indices where wanted[index].start.map({ $0 <= now }) == true { wanted[index].start = nil }
        return expired
    }
}
