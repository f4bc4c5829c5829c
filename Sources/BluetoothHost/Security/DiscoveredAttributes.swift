import BluetoothBase
import BluetoothGATT

/// What was discovered of a peer's server, and the Database Hash it had then (Core 5.4, Vol 3, Part G, 7.3).
package struct DiscoveredAttributes: Hashable, Sendable {
    package var cache: AttributeCache
    /// Nil where the server has no Database Hash.
    package var hash: UInt128?

    package init(cache: AttributeCache, hash: UInt128?) {
        self.cache = cache
        self.hash = hash
    }
}

extension Bond {
    /// Takes over what a link has found out; nil leaves what was known.
    mutating func keep(_ found: DiscoveredAttributes?) {
        guard let found else { return }
        attributes = found.cache.isEmpty ? nil : found.cache
        databaseHash = attributes == nil ? nil : found.hash
    }
}

extension Host {
    /// Whose word it is that a link's peer gives, and what a bond keeps of its server.
    package enum AttributeTrust: Equatable {
        /// The peer has no bond.
        case unbonded
        /// The peer has a bond, and the link is not encrypted: this may be anybody.
        case unproven
        case bonded(DiscoveredAttributes?)
    }

    package func attributeTrust(on link: LinkIdentifier) -> AttributeTrust {
        guard let slot = links.slot(of: link) else { return .unproven }
        guard let bond = bond(of: slot) else { return .unbonded }
        guard links.at[slot.index].protection.strength != nil else { return .unproven }
        return .bonded(bond.attributes.map { DiscoveredAttributes(cache: $0, hash: bond.databaseHash) })
    }

    /// Has the bond with a link's peer keep what was discovered, now or once there is one, when the link ends.
    package mutating func keepAttributes(_ attributes: DiscoveredAttributes, of link: LinkIdentifier) {
        guard let slot = links.slot(of: link) else { return }
        links.at[slot.index].attributes = attributes
    }

    /// What was discovered does not hold any more. The bond forgets it at once: the end of the link may come with the end of
    /// the program.
    package mutating func dropAttributes(of link: LinkIdentifier) {
        guard let slot = links.slot(of: link) else { return }
        links.at[slot.index].attributes = nil
        guard links.at[slot.index].protection.strength != nil, let bond = bond(of: slot) else { return }
        dropAttributes(of: bond.peer)
    }

    /// The bond with a peer forgets what was discovered.
    package mutating func dropAttributes(of peer: PeerID) {
        guard var bond = peers.bond(with: peer), bond.attributes != nil else { return }
        bond.attributes = nil
        bond.databaseHash = nil
        peers.setBond(bond)
        events.append(.bondChanged(bond))
    }

    /// Whether there is a bond with a peer.
    package func isBonded(_ peer: PeerID) -> Bool { peers.bond(with: peer) != nil }
}
