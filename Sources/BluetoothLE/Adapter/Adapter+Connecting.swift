import BluetoothAdapter
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHost
import BluetoothUsers

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
        try await connect(to: peer, ConnectRequest(timeout: timeout, by: .advertising(phys)))
    }

    /// Connects to a peer that is synchronized to the periodic advertising of a set, without its advertising: in a subevent to
    /// which it listens, where the request takes the place of the subevent's data (Core 5.4, Vol 3, Part C, 9.3.17).
    ///
    /// - Parameters:
    ///   - peer: its address. Responses do not give it: the peer tells it when it is set up.
    ///   - subevent: to which it listens.
    ///   - set: what it is synchronized to.
    ///   - timeout: how long to try; nil tries until the task is cancelled. A peer that does not answer is asked six times.
    /// - Throws: as `connect(to:timeout:phys:)`; `.notSupported` where the controller cannot do so, `.invalidParameters` for a
    ///   subevent that the set does not have, `.cancelled` where the set ends.
    public func connect(
        to peer: DeviceAddress, inSubevent subevent: Int, of set: AdvertisingSet, timeout: Duration? = .seconds(30)
    ) async throws(BluetoothError) -> Connection {
        try await connect(to: peer, ConnectRequest(timeout: timeout, by: .subevent(subevent, of: set.token)))
    }

    private func connect(
        to peer: DeviceAddress, _ request: ConnectRequest
    ) async throws(BluetoothError) -> Connection {
        try router.check()
        guard case .link(let identifier) = try await router.call(.connect(PeerID(peer), request)) else {
            throw .disconnected(.unknown)
        }
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
