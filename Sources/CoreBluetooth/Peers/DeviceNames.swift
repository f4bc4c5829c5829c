import BluetoothBase
import BluetoothHost
import BluetoothUsers
import Synchronization

/// The Device Names of connected peers. They take precedence over advertised names.
final class DeviceNames: Sendable {
    private let names = Guarded(wrappedValue: PeerNames())
    private let changes = Atomic<UInt64>(0)

    /// A number that changes with every change of a name.
    var version: UInt64 { changes.load(ordering: .acquiring) }

    subscript(peer: PeerID) -> String? { names.withLock { $0[peer] } }

    func set(_ name: String, of peer: PeerID) {
        if names.withLock({ $0.set(name, of: peer) }) { changes.add(1, ordering: .releasing) }
    }
}
