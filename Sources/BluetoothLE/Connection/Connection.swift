import Synchronization
import BluetoothAdapter
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost

/// A link to another device, and the GATT client on it. It does not matter which side made the connection.
///
/// Copies refer to the same link. The link lasts until one side ends it or the peer is lost. Releasing this value does
/// not end it.
public struct Connection: Sendable {
    let adapter: Adapter
    let link: Link

    var router: EventRouter { adapter.router }

    /// The peer's address.
    public var peer: DeviceAddress { link.peer }

    /// This device's role on the link.
    public var role: LinkRole { link.role }

    /// The peer's Device Name; nil until it is known. It is read once on links this device made, when the link is idle,
    /// and kept for later links.
    public var name: String? { link.state.withLock { $0.name } }

    /// ATT_MTU: no PDU on the link is longer, in octets.
    public var mtu: Int {
        get async throws(BluetoothError) {
            try router.check(link)
            return link.mtu
        }
    }

    /// The current connection parameters.
    public var parameters: CurrentConnectionParameters {
        get async throws(BluetoothError) {
            try router.check(link)
            return link.state.withLock { $0.parameters }
        }
    }

    /// The PHYs the link uses now, in each direction.
    public var phy: LinkPHYs {
        get async throws(BluetoothError) {
            try router.check(link)
            return link.state.withLock { $0.phys }
        }
    }

    /// Asks for other PHYs in both directions, and waits until the controllers have agreed: `phy` says on what. LE 2M is asked for
    /// without this where both sides have it, see `HostConfiguration.prefersLE2M`; LE Coded reaches farther.
    ///
    /// - Parameters:
    ///   - phys: those that this device would like, one or more.
    ///   - options: the coding on LE Coded.
    public func setPreferredPHY(_ phys: LEPHYs, options: LEPHYOptions = .noPreference) async throws(BluetoothError) {
        try router.check(link)
        try await router.call(.setPreferredPHYs(link.identifier, phys, options))
    }

    /// The RSSI of the peer, in dBm; nil if the controller cannot measure it (Core 5.4, Vol 4, Part E, 7.5.4).
    public func readRSSI() async throws(BluetoothError) -> Int? {
        try router.check(link)
        // 127 dBm stands for "not available".
        guard case .rssi(let rssi) = try await router.call(.readRSSI(link.identifier)), rssi != .max else { return nil }
        return Int(rssi)
    }

    /// Asks for new connection parameters, and waits until they apply. A central decides by itself; a peripheral asks
    /// its central, which may refuse.
    public func updateParameters(_ parameters: ConnectionParameters) async throws(BluetoothError) {
        try router.check(link)
        try await router.call(.updateParameters(link.identifier, parameters))
    }

    /// Ends the link, and waits until it has ended. Does nothing if it already has.
    public func disconnect() async throws(BluetoothError) {
        guard link.error == nil else { return }
        _ = try await waitForEnd { _ = router.post(.disconnect(link.identifier, reason: nil)) }
    }

    /// Releases the link: it ends as soon as no other user of the controller needs it. A link that the peer made stays.
    ///
    /// The subscriptions made through this adapter end, as do reports about power, and their sequences end without an error.
    public func release() async {
        router.post(.release(link.identifier))
        for listener in link.removeListeners(in: 0x0001...0xFFFF) { listener.queue.finish() }
        for watcher in link.removePowerWatchers() { watcher.finish(nil) }
    }

    /// Waits until either side has ended the link.
    @discardableResult
    public func waitForDisconnection() async throws(BluetoothError) -> DisconnectReason {
        try await waitForEnd {}
    }

    private func waitForEnd(_ begin: () -> Void) async throws(BluetoothError) -> DisconnectReason {
        if let token = router.calls.insert(.beginning(nil)) {
            try await router.wait(as: token, isCall: false) {
                let hasEnded = link.state.withLock { state in
                    if state.end == nil { state.awaitingEnd.append(token) }
                    return state.end != nil
                }
                if hasEnded { router.resume(token, .success(.done)) } else { begin() }
                return true
            }
        }
        guard let end = link.state.withLock({ $0.end }) else { throw router.closure }
        switch end.error {
        case .disconnected, .adapterRemoved: return end.reason
        // The adapter ended.
        default: throw end.error
        }
    }

    /// Carries out a GATT operation.
    func perform(_ operation: GATTClientOperation) async throws(BluetoothError) -> GATTClientResult {
        try router.check(link)
        guard case .gatt(let result) = try await router.call(.perform(link.identifier, operation))
        else { throw .cancelled }
        return result
    }
}

extension Connection: Hashable {
    public static func == (lhs: Connection, rhs: Connection) -> Bool { lhs.link === rhs.link }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(link.identifier)
    }
}
