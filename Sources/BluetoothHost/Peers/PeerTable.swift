import BluetoothBase
import BluetoothSMP

/// Maps addresses to peers, and peers to the addresses at which they can be reached.
///
/// A `PeerID` is made from the address with which the peer was first seen, so most peers need no entry. The table
/// stores only the exceptions: peers with a known identity address, and names that turned out to belong to the same
/// peer. Each link stores the name of its peer itself, so that the name never changes during the link.
struct PeerTable: Sendable {
    /// The lasting ID of a peer, by its other IDs. No value is also a key, so a single lookup suffices.
    private var names: [PeerID: PeerID] = [:]
    /// The identity address of a peer, by its lasting ID (Core 5.4, Vol 3, Part C, 10.8).
    private var identities: [PeerID: DeviceAddress] = [:]
    /// The bonds with peers, by their lasting IDs.
    private(set) var bonds: [PeerID: Bond] = [:]
    /// Resolves private addresses.
    private(set) var resolver: AddressResolver
    /// Names made from private addresses, oldest first. A peer may appear with a new one each time.
    private var temporaryNames: [PeerID] = []

    /// The maximum number of names made from private addresses.
    static let maximumTemporaryNames = 1024

    var temporaryNameCount: Int { temporaryNames.count }

    /// - Parameter crypto: the ciphers for resolving private addresses; nil leaves them unresolved.
    init(crypto: (any CryptoToolbox)? = nil) { resolver = AddressResolver(crypto: crypto) }

    /// The peer that uses an address. A private address is resolved.
    @inline(__always)
    mutating func peer(at address: DeviceAddress) -> PeerID {
        guard resolver.mayResolve(address), let peer = resolver.resolve(address) else {
            return lastingPeer(of: PeerID(address))
        }
        return lastingPeer(of: peer)
    }

    /// The peer that uses a private address which `resolver` may resolve; nil if no key has been tried on it yet.
    mutating func recall(_ address: DeviceAddress) -> PeerID? {
        resolver.recall(address).map { lastingPeer(of: $0.peer ?? PeerID(address)) }
    }

    /// Tries the next keys of bonds on the addresses of a search.
    ///
    /// - Parameter count: the maximum number of keys to try.
    /// - Returns: the peers that use the addresses, in the same order, once all keys have been tried.
    mutating func advance(_ search: inout AddressSearch, keys count: Int) -> [PeerID]? {
        resolver.advance(&search, keys: count) ? peers(search) : nil
    }

    // Inside `advance`, this would copy the table for each address.
    private func peers(_ search: AddressSearch) -> [PeerID] {
        zip(search.addresses, search.makers).map { lastingPeer(of: $1.peer ?? PeerID($0)) }
    }

    /// The lasting ID of a peer, even if the given ID is made from one of its private addresses.
    func resolvedPeer(of peer: PeerID) -> PeerID {
        let address = peer.firstAddress
        guard resolver.mayResolve(address), let found = resolver.search(address) else { return lastingPeer(of: peer) }
        return lastingPeer(of: found)
    }

    /// The identity of a peer that may use private addresses; nil for all others.
    func identity(of peer: PeerID) -> DeviceIdentity? { resolver.identity(of: lastingPeer(of: peer)) }

    /// The lasting ID of a peer, which is the same for all its IDs.
    @inline(__always)
    func lastingPeer(of peer: PeerID) -> PeerID { names.isEmpty ? peer : names[peer] ?? peer }

    /// The address at which to reach a peer.
    func address(of peer: PeerID) -> DeviceAddress {
        let peer = lastingPeer(of: peer)
        return identities[peer] ?? peer.firstAddress
    }

    /// Records the identity address of a peer.
    ///
    /// - Returns: the lasting ID of the peer. It differs from `peer` if the identity was already known, so that both
    ///   names belong to the same peer.
    @discardableResult
    mutating func learn(_ identity: DeviceAddress, of peer: PeerID) -> PeerID {
        let peer = lastingPeer(of: peer)
        let known = lastingPeer(of: PeerID(identity))
        // If the identity was unknown, the peer keeps its name.
        let isNew = known == PeerID(identity) && identities[known] == nil
        let (old, new) = isNew ? (known, peer) : (peer, known)
        rename(old, to: new)
        identities[new] = PeerID(identity).firstAddress
        return new
    }

    /// Forgets the identity of a peer whose bond was removed. Names that turned out to belong to the same peer stay
    /// merged.
    mutating func forgetIdentity(of peer: PeerID) {
        identities[lastingPeer(of: peer)] = nil
    }

    // MARK: Bonds

    /// The maximum number of bonds. No bond is ever evicted to make room for another.
    static let maximumBonds = 1024

    @inline(__always)
    func bond(with peer: PeerID) -> Bond? { bonds.isEmpty ? nil : bonds[lastingPeer(of: peer)] }

    /// Stores a bond. Returns false if there is no room for another one.
    @discardableResult
    mutating func setBond(_ bond: Bond) -> Bool {
        let peer = lastingPeer(of: bond.peer)
        guard bonds[peer] != nil || bonds.count < Self.maximumBonds else { return false }
        var bond = bond
        bond.peer = peer
        bonds[peer] = bond
        resolver.set(bond.identity, of: peer)
        return true
    }

    mutating func removeBond(with peer: PeerID) -> Bond? {
        forgetIdentity(of: peer)
        resolver.set(nil, of: lastingPeer(of: peer))
        return bonds.removeValue(forKey: lastingPeer(of: peer))
    }

    /// Makes `new` the lasting ID of `old` and of all IDs that map to it.
    private mutating func rename(_ old: PeerID, to new: PeerID) {
        guard old != new else { return }
        for (name, lasting) in names where lasting == old { names[name] = new }
        names[old] = new
        names[new] = nil
        identities[old] = nil
        resolver.rename(old, to: new)
        if var bond = bonds.removeValue(forKey: old), bonds[new] == nil {
            bond.peer = new
            bonds[new] = bond
        }
        guard !old.firstAddress.isIdentity else { return }
        temporaryNames.append(old)
        if temporaryNames.count > Self.maximumTemporaryNames { names[temporaryNames.removeFirst()] = nil }
    }
}
