import BluetoothBase

/// Peers, whatever address they use.
extension Host {
    /// The link to a peer, under any of its names, where there is one that has been reported as connected.
    public func link(to peer: PeerID) -> LinkIdentifier? {
        let peer = lastingName(of: peer)
        return links.firstSlot { $0.life.isAnnounced && $0.lastingPeer == peer }.map { links.at[$0.index].identifier }
    }

    /// The name that stays with a peer, and which its later links will have: the same for all names it has, those made
    /// of its private addresses included.
    public func lastingName(of peer: PeerID) -> PeerID { peers.resolvedName(of: peer) }

    /// The peer of a link has proved that it has this identity address (Core 5.4, Vol 3, Part H, 2.4.3): pairing or
    /// encryption has shown it.
    ///
    /// A peer that was not known under this identity keeps the name it has, and its identity address leads to that name
    /// from now on. Where the identity is known, the two names mean one peer, and the older one wins:
    /// `HostEvent.Link.peerIdentified` says so for each link that has another name. Such a link keeps its name for as
    /// long as it lives, and calls with either name reach the peer.
    ///
    /// - Returns: the name that stays with the peer, to be kept with its bond.
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

    /// Restores a bond of an earlier run: this peer has this identity address.
    public mutating func restoreIdentity(
        _ identity: DeviceAddress, of peer: PeerID, at now: Instant
    ) throws(HostError) {
        guard identity.isIdentity else { throw .invalidParameters }
        peers.learn(identity, of: peer)
        peersRenamed(at: now)
    }

    /// Forgets the identity of a peer, whose bond was removed.
    public mutating func forgetIdentity(of peer: PeerID) { peers.forgetIdentity(of: peer) }

    /// Links whose peer has another lasting name now take that over.
    private mutating func peersRenamed(at now: Instant) {
        for slot in links.slots where links.at[slot.index].isInUse {
            let lasting = peers.lastingName(of: links.at[slot.index].lastingPeer)
            guard lasting != links.at[slot.index].lastingPeer else { continue }
            links.at[slot.index].lastingPeer = lasting
            guard links.at[slot.index].life.isAnnounced else { continue }
            events.append(.link(links.at[slot.index].identifier, .peerIdentified(lasting)))
            endAttempts(at: lasting, at: now)
        }
        // The address under which a peer is to be looked for may be another one now.
        advanceConnecting(at: now)
    }
}
