import BluetoothBase
import BluetoothHost

/// The peers whose links end shortly after they begin, with the backoff before the next connection to each of them.
struct ShortLivedLinks: Sendable {
    private var peers: [(peer: PeerID, backoff: Backoff)] = []

    /// The maximum number of peers. The oldest one is removed first.
    private static let capacity = 64

    /// Records that a link ended which this host did not disconnect.
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

    /// When a link to a peer may be attempted again; nil for immediately.
    mutating func deadline(for peer: PeerID, at now: Instant) -> Instant? {
        guard let index = peers.firstIndex(where: { $0.peer == peer }), peers[index].backoff.waits(at: now) else {
            return nil
        }
        return peers[index].backoff.deadline
    }
}
