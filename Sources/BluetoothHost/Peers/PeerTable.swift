import BluetoothBase
import BluetoothSMP

/// Which peer an address belongs to, and under which address a peer is reached.
///
/// A `PeerID` is made from the address under which the peer was first met, so most peers need no entry. The table holds
/// only what differs from that: a peer whose identity address is known, and names that turned out to mean the same peer.
/// The name of a live link is kept by the link, so that it never changes while the link lives.
struct PeerTable: Sendable {
    /// The lasting name of a peer, by another name it also has. Values are never keys: one look-up is enough.
    private var names: [PeerID: PeerID] = [:]
    /// The identity address of a peer, by its lasting name (Core 5.4, Vol 3, Part C, 10.8).
    private var identities: [PeerID: DeviceAddress] = [:]
    /// The keys of peers, by their lasting names.
    private(set) var bonds: [PeerID: Bond] = [:]
    /// Whose private address it is.
    private(set) var resolver: AddressResolver
    /// Names that stood for a private address, oldest first: a peer may come with a new one each time.
    private var temporaryNames: [PeerID] = []

    /// How many names of private addresses are remembered.
    static let maximumTemporaryNames = 1024

    var temporaryNameCount: Int { temporaryNames.count }

    /// - Parameter crypto: what private addresses are resolved with; nil leaves them unresolved.
    init(crypto: (any CryptoToolbox)? = nil) { resolver = AddressResolver(crypto: crypto) }

    /// The peer that uses an address, which is resolved if it is a private one.
    @inline(__always)
    mutating func peer(at address: DeviceAddress) -> PeerID {
        guard resolver.mayResolve(address), let peer = resolver.resolve(address) else {
            return lastingName(of: PeerID(address))
        }
        return lastingName(of: peer)
    }

    /// The peer that uses a private address which `resolver` may resolve; nil where no key has been tried on it yet.
    mutating func recall(_ address: DeviceAddress) -> PeerID? {
        resolver.recall(address).map { lastingName(of: $0.peer ?? PeerID(address)) }
    }

    /// Tries the next keys of bonds on the addresses of a search.
    ///
    /// - Parameter count: the maximum number of keys to try.
    /// - Returns: the peers that use the addresses, in their order, once all keys have been tried.
    mutating func advance(_ search: inout AddressSearch, keys count: Int) -> [PeerID]? {
        resolver.advance(&search, keys: count) ? peers(search) : nil
    }

    // As a part of `advance`, it would copy the table for each address.
    private func peers(_ search: AddressSearch) -> [PeerID] {
        zip(search.addresses, search.makers).map { lastingName(of: $1.peer ?? PeerID($0)) }
    }

    /// The name that stays with a peer, be its name made of any of its private addresses.
    func resolvedName(of peer: PeerID) -> PeerID {
        let address = peer.firstAddress
        guard resolver.mayResolve(address), let found = resolver.search(address) else { return lastingName(of: peer) }
        return lastingName(of: found)
    }

    /// The identity of a peer that may use private addresses; nil for all others.
    func identity(of peer: PeerID) -> DeviceIdentity? { resolver.identity(of: lastingName(of: peer)) }

    /// The name that stays with a peer, which is the same for all names it has.
    @inline(__always)
    func lastingName(of peer: PeerID) -> PeerID { names.isEmpty ? peer : names[peer] ?? peer }

    /// The address under which to look for a peer.
    func address(of peer: PeerID) -> DeviceAddress {
        let peer = lastingName(of: peer)
        return identities[peer] ?? peer.firstAddress
    }

    /// Notes that a peer has this identity address.
    ///
    /// - Returns: the lasting name of the peer. That is another one than `peer` where the identity was known already:
    ///   then the two names mean one peer.
    @discardableResult
    mutating func learn(_ identity: DeviceAddress, of peer: PeerID) -> PeerID {
        let peer = lastingName(of: peer)
        let known = lastingName(of: PeerID(identity))
        // Where this identity was not known, the peer keeps its name.
        let isNew = known == PeerID(identity) && identities[known] == nil
        let (old, new) = isNew ? (known, peer) : (peer, known)
        rename(old, to: new)
        identities[new] = PeerID(identity).firstAddress
        return new
    }

    /// Forgets the identity of a peer: its bond was removed. Names that were found to mean one peer still do.
    mutating func forgetIdentity(of peer: PeerID) {
        identities[lastingName(of: peer)] = nil
    }

    // MARK: Bonds

    /// How many bonds are kept at once; those that stand in nobody's way are never given up for another.
    static let maximumBonds = 1024

    @inline(__always)
    func bond(with peer: PeerID) -> Bond? { bonds.isEmpty ? nil : bonds[lastingName(of: peer)] }

    /// False where there is no room for one more.
    @discardableResult
    mutating func setBond(_ bond: Bond) -> Bool {
        let peer = lastingName(of: bond.peer)
        guard bonds[peer] != nil || bonds.count < Self.maximumBonds else { return false }
        var bond = bond
        bond.peer = peer
        bonds[peer] = bond
        resolver.set(bond.identity, of: peer)
        return true
    }

    mutating func removeBond(with peer: PeerID) -> Bond? {
        forgetIdentity(of: peer)
        resolver.set(nil, of: lastingName(of: peer))
        return bonds.removeValue(forKey: lastingName(of: peer))
    }

    /// Makes `old`, and all names that lead to it, lead to `new`.
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
