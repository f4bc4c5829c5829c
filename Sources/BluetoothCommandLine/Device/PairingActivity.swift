import BluetoothLE
import Synchronization

/// The pairings in which a person takes part.
///
/// A person may take longer to type a passkey than a device to answer. So no limit for an answer runs out during such a pairing.
final class PairingActivity: Sendable {
    /// The pairings of this process.
    static let current = PairingActivity()

    private struct State {
        var peers: Set<PeerID> = []
        var endCount = 0
    }

    private let state = Mutex(State())

    /// The peers with which a pairing is under way.
    var peers: Set<PeerID> { state.withLock { $0.peers } }

    /// How many pairings have ended.
    var endCount: Int { state.withLock { $0.endCount } }

    /// A person was asked something, or was shown a passkey, for a pairing with this peer.
    func began(with peer: DeviceAddress) {
        state.withLock { _ = $0.peers.insert(PeerID(peer)) }
    }

    /// A pairing with this peer has ended.
    func ended(with peer: DeviceAddress) {
        state.withLock { state in
            if state.peers.remove(PeerID(peer)) != nil { state.endCount += 1 }
        }
    }

    /// All links have ended, and every pairing with them.
    func endAll() {
        state.withLock { state in
            state.endCount += state.peers.count
            state.peers = []
        }
    }

    /// Waits until a limit has passed in which no pairing was under way and none has ended.
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
