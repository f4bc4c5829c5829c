import BluetoothBase
import BluetoothGAP
import BluetoothHost

/// Options for connecting to a peer.
public struct ConnectRequest: Sendable {
    /// How long to try, starting with the call; nil to try until the call is cancelled.
    public var timeout: Duration?
    /// The delay before the first attempt.
    public var delay: Duration
    /// How to reach the peer, see `Host.connect`. All users share one attempt per peer. It uses a subevent as long as
    /// any user requests one. An attempt in progress keeps its PHYs.
    public var route: Route

    /// A user's `ConnectionRoute`. It identifies an advertising set by the token of `HostCall.Kind.advertiseSet`.
    public enum Route: Hashable, Sendable {
        case advertising(ScanPHYs)
        case subevent(Int, of: CallToken)
    }

    /// Creates a request. By default, it starts immediately, scans for the peer on LE 1M, and never times out.
    public init(timeout: Duration? = nil, delay: Duration = .zero, by route: Route = .advertising(.le1M)) {
        self.timeout = timeout
        self.delay = delay
        self.route = route
    }
}

/// The peers that users want to connect to, with one attempt per peer.
struct WantedConnections: Hashable, Sendable {
    struct Wanted: Hashable, Sendable {
        let call: UserCall
        /// The peer's lasting identity.
        var peer: PeerID
        /// When the attempt starts; nil if it has started.
        var start: Instant?
        let deadline: Instant?
        let route: ConnectionRoute

        var isActive: Bool { start == nil }

        func isOver(at now: Instant) -> Bool { deadline.map { $0 <= now } ?? false }
    }

    /// The host's attempt for all users that want a link to one peer.
    struct Attempt: Hashable, Sendable {
        let identifier: ConnectionAttempt
        let route: ConnectionRoute
    }

    private var wanted: [Wanted] = []
    /// The host's attempts in progress.
    private(set) var attempts: [PeerID: Attempt] = [:]

    /// The wanted peers, without duplicates.
    var peers: [PeerID] {
        var seen: Set<PeerID> = []
        return wanted.compactMap { seen.insert($0.peer).inserted ? $0.peer : nil }
    }

    var nextDeadline: Instant? {
        var deadline: Instant?
        for one in wanted { deadline = earliest(deadline, earliest(one.start, one.deadline)) }
        return deadline
    }

    /// Adds a request.
    ///
    /// - Parameter earliest: the earliest start of the attempt, regardless of the request; nil for immediately.
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

    /// Records an attempt that the host has started.
    mutating func began(_ identifier: ConnectionAttempt, to peer: PeerID, by route: ConnectionRoute) {
        attempts[peer] = Attempt(identifier: identifier, route: route)
    }

    /// Removes the attempt to connect to a peer, which the caller is about to cancel.
    mutating func removeAttempt(to peer: PeerID) { attempts[peer] = nil }

    /// Removes an attempt that has ended.
    mutating func remove(_ attempt: ConnectionAttempt?) -> (peer: PeerID, attempt: Attempt)? {
        guard let (peer, over) = attempts.first(where: { $0.value.identifier == attempt }) else { return nil }
        attempts[peer] = nil
        return (peer, over)
    }

    /// How to reach a peer: through a subevent to which it listens, if any user requests one, otherwise through its
    /// advertising.
    func route(to peer: PeerID) -> ConnectionRoute {
        var phys = ScanPHYs()
        for one in wanted where one.peer == peer && one.isActive {
            guard case .advertising(let more) = one.route else { return one.route }
            phys.formUnion(more)
        }
        return .advertising(phys.isEmpty ? .le1M : phys)
    }

    func contains(where isMeant: (Wanted) -> Bool) -> Bool { wanted.contains(where: isMeant) }

    /// Whether a user currently wants a link to this peer.
    func isActive(_ peer: PeerID) -> Bool { wanted.contains { $0.peer == peer && $0.isActive } }

    /// Replaces the identities of peers with their lasting ones.
    mutating func rename(_ lastingPeer: (PeerID) -> PeerID) {
        for index in wanted.indices { wanted[index].peer = lastingPeer(wanted[index].peer) }
        attempts = Dictionary(attempts.map { (lastingPeer($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    /// Removes and returns matching requests.
    mutating func removeAll(where isMeant: (Wanted) -> Bool) -> [Wanted] {
        let removed = wanted.filter(isMeant)
        wanted.removeAll(where: isMeant)
        return removed
    }

    /// Removes and returns the requests that have timed out, and starts those that are due.
    mutating func expire(at now: Instant) -> [Wanted] {
        let expired = removeAll { $0.isOver(at: now) }
        for index in wanted.indices where wanted[index].start.map({ $0 <= now }) == true { wanted[index].start = nil }
        return expired
    }
}
