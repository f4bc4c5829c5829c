import BluetoothBase
import BluetoothGAP
import BluetoothHost

/// How to connect.
public struct ConnectRequest: Sendable {
    /// How long to try, from the call on; nil until the call is cancelled.
    public var timeout: Duration?
    /// How long to wait before the first try.
    public var delay: Duration
    /// Where the peer is asked, see `Host.connect`. There is one attempt at each peer: in a subevent, as long as somebody wants that.
    /// PHYs are those of the attempt under way.
    public var route: Route

    /// `ConnectionRoute` of a user, who knows a set by the token of `HostCall.Kind.advertiseSet`.
    public enum Route: Hashable, Sendable {
        case advertising(ScanPHYs)
        case subevent(Int, of: CallToken)
    }

    public init(timeout: Duration? = nil, delay: Duration = .zero, by route: Route = .advertising(.le1M)) {
        self.timeout = timeout
        self.delay = delay
        self.route = route
    }
}

/// The peers that users want links to, with one attempt for each peer.
struct WantedConnections: Sendable {
    struct Wanted: Sendable {
        let call: UserCall
        /// Its lasting identity.
        var peer: PeerID
        /// When the attempt begins; nil if it has begun.
        var start: Instant?
        let deadline: Instant?
        let route: ConnectionRoute

        var isActive: Bool { start == nil }

        func isOver(at now: Instant) -> Bool { deadline.map { $0 <= now } ?? false }
    }

    /// What the host does for all who want a link to one peer.
    struct Attempt: Sendable {
        let identifier: ConnectionAttempt
        let route: ConnectionRoute
    }

    private var wanted: [Wanted] = []
    /// The host's attempts under way.
    private(set) var attempts: [PeerID: Attempt] = [:]

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
        _ call: UserCall, _ peer: PeerID, _ request: ConnectRequest, by route: ConnectionRoute,
        notBefore earliest: Instant?, at now: Instant
    ) {
        let start = max(now.advanced(by: request.delay), earliest ?? now)
        wanted.append(
            Wanted(
                call: call, peer: peer, start: start > now ? start : nil,
                deadline: request.timeout.map { now.advanced(by: $0) }, route: route))
    }

    /// Notes an attempt that the host has begun.
    mutating func began(_ identifier: ConnectionAttempt, to peer: PeerID, by route: ConnectionRoute) {
        attempts[peer] = Attempt(identifier: identifier, route: route)
    }

    /// Removes the attempt to connect to a peer, which is about to be cancelled.
    mutating func removeAttempt(to peer: PeerID) { attempts[peer] = nil }

    /// Removes an attempt that is over.
    mutating func remove(_ attempt: ConnectionAttempt?) -> (peer: PeerID, attempt: Attempt)? {
        guard let (peer, over) = attempts.first(where: { $0.value.identifier == attempt }) else { return nil }
        attempts[peer] = nil
        return (peer, over)
    }

    /// Where a peer is asked: in a subevent to which it listens, or else wherever it may advertise.
    func route(to peer: PeerID) -> ConnectionRoute {
        var phys = ScanPHYs()
        for one in wanted where one.peer == peer && one.isActive {
            guard case .advertising(let more) = one.route else { return one.route }
            phys.formUnion(more)
        }
        return .advertising(phys.isEmpty ? .le1M : phys)
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
