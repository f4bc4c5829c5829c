import BluetoothAdapter
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHost
import BluetoothUsers

extension Adapter {
    /// Connects to a peer and exchanges the ATT_MTU.
    ///
    /// If a link that the controller reports then fails to be established, the attempt is repeated while time remains.
    /// If another user of the controller already has a link to the peer, this adapter shares it.
    ///
    /// - Parameters:
    ///   - peer: a peer from a sighting, a bond or an earlier connection.
    ///   - timeout: how long to try. With nil, the adapter tries until the task is cancelled.
    ///   - phys: the primary PHYs that the peer may advertise on. LE Coded requires a controller that supports it.
    /// - Throws: `.timedOut`; `.peerNotResponding` if a link was established but the peer did not respond in time;
    ///   `.connectionFailed` if every attempt failed; `.cancelled`; `.alreadyConnected`; or `.refusedByController`.
    public func connect(
        to peer: PeerID, timeout: Duration? = .seconds(30), phys: ScanPHYs = .le1M
    ) async throws(BluetoothError) -> Connection {
        try await connect(to: peer, ConnectRequest(timeout: timeout, by: .advertising(phys)))
    }

    /// Connects to the device of a sighting, on the PHY it advertises on. See `connect(to:timeout:phys:)`.
    public func connect(
        to sighting: Sighting, timeout: Duration? = .seconds(30)
    ) async throws(BluetoothError) -> Connection {
        let phys: ScanPHYs = sighting.details.primaryPHY == .leCoded ? .leCoded : .le1M
        return try await connect(to: sighting.peer, timeout: timeout, phys: phys)
    }

    /// Connects to a device by its address. See `connect(to:timeout:phys:)`.
    public func connect(
        to address: DeviceAddress, timeout: Duration? = .seconds(30), phys: ScanPHYs = .le1M
    ) async throws(BluetoothError) -> Connection {
        try await connect(to: PeerID(address), timeout: timeout, phys: phys)
    }

    /// Connects to a peer that is synchronized to the periodic advertising of a set, and need not advertise itself. The
    /// connection request takes the place of the data of a subevent that the peer listens to (Core 5.4, Vol 3, Part C,
    /// 9.3.17).
    ///
    /// - Parameters:
    ///   - peer: the peer. Responses don't contain its address; the application exchanges it during setup.
    ///   - subevent: the subevent that the peer listens to.
    ///   - set: the advertising set that the peer is synchronized to.
    ///   - timeout: how long to try. With nil, the adapter tries until the task is cancelled. A request that the peer
    ///     does not answer is repeated up to `HostConfiguration.establishmentRetries` times.
    /// - Throws: the errors of `connect(to:timeout:phys:)`; `.notSupported` if the controller does not support such
    ///   connections; `.invalidParameters` if the set does not have the subevent; `.cancelled` if the set ends.
    public func connect(
        to peer: PeerID, inSubevent subevent: Int, of set: AdvertisingSet, timeout: Duration? = .seconds(30)
    ) async throws(BluetoothError) -> Connection {
        try await connect(to: peer, ConnectRequest(timeout: timeout, by: .subevent(subevent, of: set.token)))
    }

    private func connect(
        to peer: PeerID, _ request: ConnectRequest
    ) async throws(BluetoothError) -> Connection {
        try router.check()
        guard case .link(let identifier) = try await router.call(.connect(peer, request)) else {
            throw .disconnected(.unknown)
        }
        guard let link = router.link(identifier) else {
            try router.check()
            // The link has ended in the meantime.
            throw router.end(of: identifier)
        }
        return Connection(adapter: self, link: link)
    }

    /// The current connections, in either role.
    public var connections: [Connection] { router.links.map { Connection(adapter: self, link: $0) } }
}
