import BluetoothLE
import Synchronization

/// The pairings in which the user takes part.
///
/// A user may need longer to type a passkey than a device needs to answer. So no limit for an answer expires during
/// such a pairing.
final class PairingActivity: Sendable {
    /// The pairings of this process.
    static let current = PairingActivity()

    private struct State {
        var peers: Set<PeerID> = []
        var endCount = 0
    }

    private let state = Mutex(State())

    /// The peers with which a pairing is in progress.
    var peers: Set<PeerID> { state.withLock { $0.peers } }

    /// The number of pairings that have ended.
    var endCount: Int { state.withLock { $0.endCount } }

    /// Records that the user was asked a question, or was shown a passkey, for a pairing with this peer.
    func began(with peer: PeerID) {
        state.withLock { _ = $0.peers.insert(peer) }
    }

    /// Records that a pairing with this peer has ended.
    func ended(with peer: PeerID) {
        state.withLock { state in
            if state.peers.remove(peer) != nil { state.endCount += 1 }
        }
    }

    /// Records that all links have ended, and with them all pairings.
    func endAll() {
        state.withLock { state in
            state.endCount += state.peers.count
            state.peers = []
        }
    }

    /// Waits until a time limit has passed in which no pairing was in progress and none has ended.
    ///
    /// - Throws: `CancellationError`.
    func wait(for limit: Duration, by clock: any Clock<Duration>) async throws {
        while true {
            let count = endCount
            try await clock.sleep(for: limit)
            if peers.isEmpty, count == endCount { return }
        }
    }
}
