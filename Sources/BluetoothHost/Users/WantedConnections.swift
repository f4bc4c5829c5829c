import BluetoothBase
import BluetoothGAP

/// The peers that users want links to, with one attempt for each peer.
struct WantedConnections: Sendable {
    struct Wanted: Sendable {
        let call: UserCall
        /// Its lasting identity.
        var peer: PeerID
        /// When the attempt begins; nil if it has begun.
        var start: Instant?
        let deadline: Instant?
        let phys: ScanPHYs

        var isActive: Bool { start == nil }

        func isOver(at now: Instant) -> Bool { deadline.map { $0 <= now } ?? false }
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

    /// - Parameter earliest: when the attempt may begin, whatever the request says; nil for at once.
    mutating func append(
        _ call: UserCall, _ peer: PeerID, _ request: ConnectRequest, notBefore earliest: Instant?, at now: Instant
    ) {
        let start = max(now.advanced(by: request.delay), earliest ?? now)
        wanted.append(
            Wanted(
                call: call, peer: peer, start: start > now ? start : nil,
                deadline: request.timeout.map { now.advanced(by: $0) }, phys: request.phys))
    }

    /// On which PHYs to listen for a peer.
    func phys(of peer: PeerID) -> ScanPHYs {
        let phys = wanted.reduce(ScanPHYs()) { $1.peer == peer && $1.isActive ? $0.union($1.phys) : $0 }
        return phys.isEmpty ? .le1M : phys
    }

    func contains(where isMeant: (Wanted) -> Bool) -> Bool { wanted.contains(where: isMeant) }

    /// Whether a user wants a link to this peer now.
    func isActive(_ peer: PeerID) -> Bool { wanted.contains { $0.peer == peer && $0.isActive } }

    /// Some peers turned out to be known under other identities.
    mutating func rename(_ lastingName: (PeerID) -> PeerID) {
        for index in wanted.indices { wanted[index].peer = lastingName(wanted[index].peer) }
        attempts = Dictionary(attempts.map { (lastingName($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    /// Removes requests, and returns them.
    mutating func removeAll(where isMeant: (Wanted) -> Bool) -> [Wanted] {
        let removed = wanted.filter(isMeant)
        wanted.removeAll(where: isMeant)
        return removed
    }

    /// Removes the requests that have timed out, and begins those that are due.
    mutating func expire(at now: Instant) -> [Wanted] {
        let expired = removeAll { $0.isOver(at: now) }
        for index in wanted.indices where wanted[index].start.map({ $0 <= now }) == true { wanted[index].start = nil }
        return expired
    }
}
