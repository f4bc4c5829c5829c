import BluetoothBase
import BluetoothSMP

/// Finds out which bonded peer made a resolvable private address (Core 5.4, Vol 6, Part B, 1.3.2.3).
///
/// To try the keys of all bonds costs an AES block for each. What came of that is remembered for some thousand addresses,
/// since a device uses an address for minutes and advertises several times a second.
struct AddressResolver: Sendable {
    struct Key: Equatable, Sendable {
        let peer: PeerID
        let identity: DeviceIdentity
    }

    private struct Result: Sendable {
        var address: UInt64
        /// Index of the key; -1 for an address of a stranger.
        var key: Int32
    }

    /// The keys that are not 0, of the oldest bond first. A device that has learnt another one's key and claims it for
    /// itself comes later, and resolves nothing.
    private(set) var keys: [Key] = []
    /// Each address has one place, which the latest one takes. Empty until something has been resolved.
    private var cache: [Result] = []
    private let crypto: (any CryptoToolbox)?

    static let cacheSize = 4096

    init(crypto: (any CryptoToolbox)?) { self.crypto = crypto }

    /// Whether an address might be one of a bonded peer.
    @inline(__always)
    func mayResolve(_ address: DeviceAddress) -> Bool {
        !keys.isEmpty && address.kind == .random && address.value >> 46 == 0b01
    }

    /// The peer that made a resolvable private address; nil for a stranger.
    mutating func resolve(_ address: DeviceAddress) -> PeerID? {
        guard mayResolve(address) else { return nil }
        if cache.isEmpty { cache = Array(repeating: Result(address: 0, key: -1), count: Self.cacheSize) }
        let place = Int(truncatingIfNeeded: address.value) & (Self.cacheSize - 1)
        if cache[place].address != address.value {
            cache[place] = Result(address: address.value, key: Int32(index(of: address) ?? -1))
        }
        return cache[place].key < 0 ? nil : keys[Int(cache[place].key)].peer
    }

    /// As `resolve`, without a memory.
    func search(_ address: DeviceAddress) -> PeerID? { index(of: address).map { keys[$0].peer } }

    private func index(of address: DeviceAddress) -> Int? {
        guard let crypto else { return nil }
        return keys.firstIndex { crypto.resolves(address, resolvingKey: $0.identity.resolvingKey) }
    }

    /// A peer has this identity from now on, or none; a key of 0 is none.
    mutating func set(_ identity: DeviceIdentity?, of peer: PeerID) {
        let key = identity.flatMap { $0.resolvingKey == 0 ? nil : Key(peer: peer, identity: $0) }
        let index = keys.firstIndex { $0.peer == peer }
        guard key != index.map({ keys[$0] }) else { return }
        if let index { keys.remove(at: index) }
        if let key { keys.append(key) }
        cache = []
    }

    /// A peer has another name.
    mutating func rename(_ old: PeerID, to new: PeerID) {
        guard let index = keys.firstIndex(where: { $0.peer == old }) else { return }
        let key = keys.remove(at: index)
        cache = []
        guard !keys.contains(where: { $0.peer == new }) else { return }
        keys.insert(Key(peer: new, identity: key.identity), at: index)
    }

    /// Whether a peer may use private addresses.
    func identity(of peer: PeerID) -> DeviceIdentity? { keys.first { $0.peer == peer }?.identity }

    /// The identities that a controller is to resolve, of the newest bond first. No two have the same key.
    var listed: [DeviceIdentity] {
        var seen: Set<UInt128> = []
        var addresses: Set<PeerID> = []
        return keys.filter {
            seen.insert($0.identity.resolvingKey).inserted && addresses.insert(PeerID($0.identity.address)).inserted
        }.reversed().map(\.identity)
    }
}
