import BluetoothBase

/// Peers, whatever address they use.
extension Host {
    /// The link to a peer, under any of its names, where there is one that has been reported as connected.
    public func link(to peer: PeerID) -> LinkIdentifier? {
        let peer = peers.lastingName(of: peer)
        return links.firstSlot { $0.wasAnnounced && $0.lastingPeer == peer }.map { links.at[$0].identifier }
    }
}
