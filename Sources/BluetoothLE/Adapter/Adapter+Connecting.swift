import BluetoothAdapter
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHost

extension Adapter {
    /// Connects to a peer and exchanges the ATT_MTU.
    ///
    /// If the controller reports a connection that then fails to be established, the attempt is repeated while there is
    /// time. If another user of the controller has a link to the peer, this one shares it.
    ///
    /// - Parameters:
    ///   - peer: its address, from a sighting.
    ///   - timeout: how long to try; nil tries until the task is cancelled.
    ///   - phys: the primary PHYs on which it may advertise, as `Sighting.details` says; LE Coded takes a controller that has it.
    /// - Throws: `.timedOut`, or `.peerNotResponding` if a link was made and the peer did not answer in time;
    ///   `.cancelled`, `.alreadyConnected`, or why the controller refused.
    public func connect(
        to peer: DeviceAddress, timeout: Duration? = .seconds(30), phys: ScanPHYs = .le1M
    ) async throws(BluetoothError) -> Connection {
        try router.check()
        guard
            case .link(let identifier) = try await router.call(
                .connect(PeerID(peer), ConnectRequest(timeout: timeout, phys: phys)))
        else { throw .disconnected(.unknown) }
        guard let link = router.link(identifier) else {
            try router.check()
            // It has ended since.
            throw .disconnected(.unknown)
        }
        return Connection(adapter: self, link: link)
    }

    /// The current connections, in either role.
    public var connections: [Connection] {
        get async { router.links.map { Connection(adapter: self, link: $0) } }
    }
}
