import BluetoothBase
import BluetoothGATT

/// The discovery results for a peer's server, and its Database Hash at that time (Core 5.4, Vol 3, Part G, 7.3).
package struct DiscoveredAttributes: Hashable, Sendable {
    package var cache: AttributeCache
    /// The Database Hash; nil if the server has none.
    package var hash: UInt128?

    package init(cache: AttributeCache, hash: UInt128?) {
        self.cache = cache
        self.hash = hash
    }
}

extension Bond {
    /// Updates the bond with the discovery results of a link; nil leaves the bond unchanged.
    mutating func keep(_ found: DiscoveredAttributes?) {
        guard let found else { return }
        attributes = found.cache.isEmpty ? nil : found.cache
        databaseHash = attributes == nil ? nil : found.hash
    }
}

extension Host {
    /// The trust in the peer of a link, and the discovery results that its bond holds.
    package enum AttributeTrust: Equatable {
        /// The peer has no bond.
        case unbonded
        /// The peer has a bond, but the link is not encrypted. It may be any device.
        case unproven
        case bonded(DiscoveredAttributes?)
    }

    package func attributeTrust(on link: LinkIdentifier) -> AttributeTrust {
        guard let slot = links.slot(of: link) else { return .unproven }
        guard let bond = bond(of: slot) else { return .unbonded }
        guard links.at[slot.index].protection.strength != nil else { return .unproven }
        return .bonded(bond.attributes.map { DiscoveredAttributes(cache: $0, hash: bond.databaseHash) })
    }

    /// Keeps discovery results for the bond with a link's peer. They are stored when the link ends, if a bond exists by
    /// then.
    package mutating func keepAttributes(_ attributes: DiscoveredAttributes, of link: LinkIdentifier) {
        guard let slot = links.slot(of: link) else { return }
        links.at[slot.index].attributes = attributes
    }

    /// Drops discovery results that are no longer valid. The bond is updated immediately, because the program may end
    /// together with the link.
    package mutating func dropAttributes(of link: LinkIdentifier) {
        guard let slot = links.slot(of: link) else { return }
        links.at[slot.index].attributes = nil
        guard links.at[slot.index].protection.strength != nil, let bond = bond(of: slot) else { return }
        dropAttributes(of: bond.peer)
    }

    /// Drops the discovery results in the bond with a peer.
    package mutating func dropAttributes(of peer: PeerID) {
        guard var bond = peers.bond(with: peer), bond.attributes != nil else { return }
        bond.attributes = nil
        bond.databaseHash = nil
        peers.setBond(bond)
        events.append(.bondChanged(bond))
    }

    /// Whether a bond with a peer exists.
    package func isBonded(_ peer: PeerID) -> Bool { peers.bond(with: peer) != nil }
}
