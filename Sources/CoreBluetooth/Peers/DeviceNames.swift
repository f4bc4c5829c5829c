import BluetoothBase

/// The Device Names of connected peers. They take precedence over advertised names.
final class DeviceNames: Sendable {
    private let names = Guarded<[PeerID: String]>(wrappedValue: [:])

    /// Bounded, since peers may change their addresses at any time.
    private static let capacity = 1024

    subscript(peer: PeerID) -> String? { names.withLock { $0[peer] } }

    func set(_ name: String, of peer: PeerID) {
        names.withLock { names in
            if names.count >= Self.capacity, names[peer] == nil, let other = names.keys.first { names[other] = nil }
            names[peer] = name
        }
    }
}
