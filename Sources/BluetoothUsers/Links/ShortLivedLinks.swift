import BluetoothBase
import BluetoothHost

/// The peers whose links end as soon as they begin, and how long to wait before connecting to each of them again.
struct ShortLivedLinks: Sendable {
    private var peers: [(peer: PeerID, backoff: Backoff)] = []

    /// How many peers are remembered; the oldest is forgotten first.
    private static let capacity = 64

    /// A link has ended that this host did not end.
    mutating func linkEnded(with peer: PeerID, after beginning: Instant, at now: Instant) {
        let index = peers.firstIndex { $0.peer == peer }
        guard beginning.duration(to: now) < LinkInformation.shortestUse else {
            if let index { peers.remove(at: index) }
            return
        }
        if let index { return peers[index].backoff.failed(at: now) }
        if peers.count == Self.capacity { peers.removeFirst() }
        var backoff = Backoff()
        backoff.failed(at: now)
        peers.append((peer, backoff))
    }

    /// When a link to a peer may be tried again; nil for at once.
    mutating func deadline(for peer: PeerID, at now: Instant) -> Instant? {
        guard let index = peers.firstIndex(where: { $0.peer == peer }), peers[index].backoff.waits(at: now) else {
            return nil
        }
        return peers[index].backoff.deadline
    }
}
