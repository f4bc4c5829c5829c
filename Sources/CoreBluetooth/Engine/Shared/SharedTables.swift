import BluetoothLE

/// What the managers with one transport know together, readable from any thread.
final class SharedTables: Sendable {
    let names = DeviceNames()
    let linkedPeers = LinkedPeers()

    private static let all = Guarded<[BluetoothTransport: SharedTables]>(wrappedValue: [:])

    static func of(_ transport: BluetoothTransport) -> SharedTables {
        all.withLock { all in
            if let tables = all[transport] { return tables }
            let tables = SharedTables()
            all[transport] = tables
            return tables
        }
    }

    static func forget(_ transport: BluetoothTransport) {
        all.withLock { $0[transport] = nil }
    }
}

/// The Device Names of peers that were connected to in this run: they outweigh what a peer advertises.
final class DeviceNames: Sendable {
    private let names = Guarded<[DeviceAddress: String]>(wrappedValue: [:])

    /// Peers may change their addresses as often as they like.
    private static let capacity = 1024

    init() {}

    subscript(peer: DeviceAddress) -> String? { names.wrappedValue[peer] }

    /// Takes a name in. False where it was known.
    func set(_ name: String, of peer: DeviceAddress) -> Bool {
        names.withLock { names in
            guard names[peer] != name else { return false }
            if names.count >= Self.capacity, names[peer] == nil, let other = names.keys.first { names[other] = nil }
            names[peer] = name
            return true
        }
    }
}

/// The peers to which there is a link, and the services they are known to have.
final class LinkedPeers: Sendable {
    private let peers = Guarded<[DeviceAddress: Set<BluetoothUUID>]>(wrappedValue: [:])

    init() {}

    var all: [DeviceAddress: Set<BluetoothUUID>] { peers.wrappedValue }

    func add(_ peer: DeviceAddress) {
        peers.withLock { $0[peer] = $0[peer] ?? [] }
    }

    func set(_ services: Set<BluetoothUUID>?, of peer: DeviceAddress) {
        peers.withLock { $0[peer] = services }
    }

    func removeAll() { peers.wrappedValue = [:] }
}
