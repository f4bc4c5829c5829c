import BluetoothBase
import Synchronization

/// The Device Names of connected peers. They take precedence over advertised names.
final class DeviceNames: Sendable {
    private let names = Guarded<[PeerID: String]>(wrappedValue: [:])
    private let changes = Atomic<UInt64>(0)

    /// Bounded, since peers may change their addresses at any time.
    private static let capacity = 1024

    /// Another number whenever a name has changed.
    var version: UInt64 { changes.load(ordering: .acquiring) }

    subscript(peer: PeerID) -> String? { names.withLock { $0[peer] } }

    func set(_ name: String, of peer: PeerID) {
        names.withLock { names in
            if names.count >= Self.capacity, names[peer] == nil, let other = names.keys.first { names[other] = nil }
            names[peer] = name
        }
        changes.add(1, ordering: .releasing)
    }
}
