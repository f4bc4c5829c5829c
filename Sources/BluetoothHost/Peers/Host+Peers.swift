import BluetoothBase

/// Peers, regardless of their current address.
extension Host {
    /// The link to a peer, identified by any of its `PeerID` values; nil if no link to it has been reported as
    /// connected.
    public func link(to peer: PeerID) -> LinkIdentifier? {
        let peer = lastingPeer(of: peer)
        return links.firstSlot { $0.life.isAnnounced && $0.lastingPeer == peer }.map { links.at[$0.index].identifier }
    }

    /// The lasting `PeerID` of a peer, which its later links will have. It is the same for all `PeerID` values of the
    /// peer, including those made from its private addresses.
    public func lastingPeer(of peer: PeerID) -> PeerID { peers.resolvedPeer(of: peer) }

    /// Records that the peer of a link has proved its identity address, by pairing or encryption (Core 5.4, Vol 3, Part
    /// H, 2.4.3).
    ///
    /// If the identity is new, the peer keeps its `PeerID`, and the identity address maps to it from now on. If the
    /// identity is already known, both `PeerID` values belong to the same peer, and the older one becomes the lasting
    /// one: the host reports `HostEvent.Link.peerIdentified` for each link with a different `PeerID`. Such a link keeps
    /// its `PeerID` until it ends, and calls with either one reach the peer.
    ///
    /// - Returns: the lasting `PeerID` of the peer, to be stored in its bond.
    @discardableResult
    public mutating func learnIdentity(
        _ identity: DeviceAddress, of link: LinkIdentifier, at now: Instant
    ) throws(HostError) -> PeerID {
        guard identity.isIdentity else { throw .invalidParameters }
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        let lasting = peers.learn(identity, of: links.at[slot.index].lastingPeer)
        peersRenamed(at: now)
        return lasting
    }

    /// Restores the identity address of a peer from a bond of an earlier run.
    public mutating func restoreIdentity(
        _ identity: DeviceAddress, of peer: PeerID, at now: Instant
    ) throws(HostError) {
        guard identity.isIdentity else { throw .invalidParameters }
        peers.learn(identity, of: peer)
        peersRenamed(at: now)
    }

    /// Forgets the identity of a peer whose bond was removed.
    public mutating func forgetIdentity(of peer: PeerID) { peers.forgetIdentity(of: peer) }

    /// Updates the links whose peer has a new lasting ID.
    private mutating func peersRenamed(at now: Instant) {
        for slot in links.slots where links.at[slot.index].isInUse {
            let lasting = peers.lastingPeer(of: links.at[slot.index].lastingPeer)
            guard lasting != links.at[slot.index].lastingPeer else { continue }
            links.at[slot.index].lastingPeer = lasting
            guard links.at[slot.index].life.isAnnounced else { continue }
            events.append(.link(links.at[slot.index].identifier, .peerIdentified(lasting)))
            endAttempts(at: lasting, at: now)
        }
        // The peers may now be reachable at different addresses.
        advanceConnecting(at: now)
    }
}
