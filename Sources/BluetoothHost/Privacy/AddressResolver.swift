import BluetoothBase
import BluetoothGAP
import BluetoothSMP

/// Determines which bonded peer generated a resolvable private address (Core 5.4, Vol 6, Part B, 1.3.2.3).
///
/// Each key tried costs an AES block. The results for recently used addresses are therefore cached, because a device
/// uses an address for minutes and advertises several times a second. Cached results stay valid when bonds change: a
/// new key is tried on an address of a stranger the next time the address is looked up.
struct AddressResolver: Sendable {
    struct Key: Sendable {
        let peer: PeerID
        let identity: DeviceIdentity
        let cipher: any BlockCipher
        /// Greater than the number of every key that was added before.
        let number: Int
    }

    /// The device that generated an address.
    enum Maker: Equatable, Sendable {
        case peer(PeerID)
        /// A device that is not bonded.
        case stranger
    }

    /// The cached result for an address.
    fileprivate enum Memory: Sendable {
        case peer(PeerID)
        /// None of the keys up to this number generated the address.
        case stranger(triedUpTo: Int)
    }

    /// The nonzero keys in the order of their numbers, oldest bond first. A device that has learned another device's
    /// key and claims it as its own comes later, and resolves nothing.
    private(set) var keys: [Key] = [] {
        didSet { generation &+= 1 }
    }
    /// The number of changes to the keys.
    private var generation = 0
    /// The number of the key added last.
    private var lastNumber = 0
    private var memory = AddressTable<Memory>(capacity: Self.memorySize)
    private let crypto: (any CryptoToolbox)?

    /// The maximum number of cached addresses: more than there are advertisers in range of one device.
    static let memorySize = 16_384
    /// The maximum number of new keys that are tried at once on a cached address of a stranger. If there are more, the
    /// address is removed from the cache.
    static let keysPerRecall = 4

    init(crypto: (any CryptoToolbox)?) { self.crypto = crypto }

    /// Whether an address may belong to a bonded peer.
    @inline(__always)
    func mayResolve(_ address: DeviceAddress) -> Bool { !keys.isEmpty && address.isResolvable }

    /// The device that generated a resolvable private address; nil if it is not cached, and too many new keys would
    /// have to be tried.
    mutating func recall(_ address: DeviceAddress) -> Maker? {
        guard let slot = memory.slot(of: address) else { return nil }
        guard case .stranger(let triedUpTo) = memory[slot], triedUpTo < lastNumber else {
            memory.touch(slot)
            return Maker(memory[slot])
        }
        let untried = keys(after: triedUpTo)
        guard untried.count <= Self.keysPerRecall else {
            memory.remove(slot)
            return nil
        }
        memory.touch(slot)
        memory[slot] = remembered(Self.maker(of: address, untried))
        return Maker(memory[slot])
    }

    /// The peer that generated a resolvable private address, regardless of the cost; nil for a stranger.
    mutating func resolve(_ address: DeviceAddress) -> PeerID? {
        guard mayResolve(address) else { return nil }
        if let maker = recall(address) { return maker.peer }
        let peer = Self.maker(of: address, keys[...])
        remember(peer.map { .peer($0) } ?? .stranger, address)
        return peer
    }

    /// Like `resolve`, but without changing the cache.
    func search(_ address: DeviceAddress) -> PeerID? {
        switch memory.slot(of: address).map({ memory[$0] }) {
        case .peer(let peer): peer
        case .stranger(let triedUpTo): Self.maker(of: address, keys(after: triedUpTo))
        case nil: Self.maker(of: address, keys[...])
        }
    }

    /// The keys that were added after the one with this number.
    private func keys(after number: Int) -> ArraySlice<Key> {
        var first = keys.endIndex
        while first > keys.startIndex, keys[first - 1].number > number { first -= 1 }
        return keys[first...]
    }

    private static func maker(of address: DeviceAddress, _ keys: ArraySlice<Key>) -> PeerID? {
        var blocks: [UInt128] = [0]
        return keys.first { key in
            blocks[0] = address.resolvingBlock
            key.cipher.encrypt(&blocks)
            return address.isMade(from: blocks[0])
        }?.peer
    }

    private mutating func remember(_ maker: Maker, _ address: DeviceAddress) {
        let memory = remembered(maker.peer)
        let slot = self.memory.slot(of: address, orInsert: memory)
        self.memory[slot] = memory
    }

    /// The result to cache after all keys have been tried.
    private func remembered(_ peer: PeerID?) -> Memory { peer.map { .peer($0) } ?? .stranger(triedUpTo: lastNumber) }

    /// Tries the next keys on the addresses of a search.
    ///
    /// - Parameter count: the maximum number of keys to try.
    /// - Returns: whether all keys have been tried. The results are then cached.
    mutating func advance(_ search: inout AddressSearch, keys count: Int) -> Bool {
        guard search.advance(keys, generation: generation, count: count) else { return false }
        for (address, maker) in zip(search.addresses, search.makers) { remember(maker, address) }
        return true
    }

    // MARK: Changes

    /// Sets or removes the identity of a peer. A key of 0 counts as no identity.
    mutating func set(_ identity: DeviceIdentity?, of peer: PeerID) {
        let identity = identity.flatMap { $0.resolvingKey == 0 ? nil : $0 }
        let index = keys.firstIndex { $0.peer == peer }
        guard identity != index.map({ keys[$0].identity }) else { return }
        if let index {
            keys.remove(at: index)
            // Perhaps another bond has the same key.
            forgetAddresses(of: peer)
        }
        if let identity, let crypto {
            lastNumber += 1
            let cipher = crypto.blockCipher(key: identity.resolvingKey)
            keys.append(Key(peer: peer, identity: identity, cipher: cipher, number: lastNumber))
        }
    }

    /// Changes the name of a peer.
    mutating func rename(_ old: PeerID, to new: PeerID) {
        guard let index = keys.firstIndex(where: { $0.peer == old }) else { return }
        let key = keys.remove(at: index)
        forgetAddresses(of: old)
        guard !keys.contains(where: { $0.peer == new }) else { return }
        keys.insert(Key(peer: new, identity: key.identity, cipher: key.cipher, number: key.number), at: index)
    }

    private mutating func forgetAddresses(of peer: PeerID) {
        for slot in memory.newestFirst {
            if case .peer(peer) = memory[slot] { memory.remove(slot) }
        }
    }

    /// The identity of a peer that may use private addresses; nil for any other peer.
    func identity(of peer: PeerID) -> DeviceIdentity? { keys.first { $0.peer == peer }?.identity }

    /// The identities for the controller's resolving list, newest bond first. No two have the same key or the same
    /// address.
    var listed: [DeviceIdentity] {
        var seen: Set<UInt128> = []
        var addresses: Set<PeerID> = []
        return keys.filter {
            seen.insert($0.identity.resolvingKey).inserted && addresses.insert(PeerID($0.identity.address)).inserted
        }.reversed().map(\.identity)
    }
}

extension AddressResolver.Maker {
    fileprivate init(_ memory: AddressResolver.Memory) {
        switch memory {
        case .peer(let peer): self = .peer(peer)
        case .stranger: self = .stranger
        }
    }

    /// The peer; nil for a stranger.
    var peer: PeerID? {
        switch self {
        case .peer(let peer): peer
        case .stranger: nil
        }
    }
}
