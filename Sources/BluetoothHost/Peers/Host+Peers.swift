import BluetoothBase

/// Peers, whatever address they use.
extension Host {
    /// The name that stays with a peer, which is the same for all names it has: two that are equal by it are one device.
    public func lastingName(of peer: PeerID) -> PeerID { peers.lastingName(of: peer) }

    /// The link to a peer, under any of its names, where there is one that has been reported as connected.
    public func link(to peer: PeerID) -> LinkIdentifier? {
        let peer = peers.lastingName(of: peer)
        return links.firstSlot { $0.wasAnnounced && $0.lastingPeer == peer }.map { links.at[$0].identifier }
    }
}
