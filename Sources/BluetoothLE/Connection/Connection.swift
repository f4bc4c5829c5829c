import Synchronization
import BluetoothAdapter
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost

/// A link to another device, and the GATT client on it. Either side may have established the link.
///
/// Copies refer to the same link. The link lasts until one side ends it or the peer is lost. Releasing this value does
/// not end it.
public struct Connection: Sendable {
    let adapter: Adapter
    let link: LinkState

    var router: EventRouter { adapter.router }

    /// The peer. The ID stays the same while the link exists, and a bonded peer has that of its bond on later links,
    /// whatever address it uses.
    public var peer: PeerID { link.peer }

    /// The address that the peer uses on this link.
    public var address: DeviceAddress { link.address }

    /// This device's role on the link.
    public var role: LinkRole { link.role }

    /// The peer's Device Name; nil until it is known. The host reads the name once, on links that this device
    /// established, when the link is idle. It keeps the name for later links.
    public var name: String? { link.state.withLock { $0.name } }

    /// Whether the link exists. The properties below keep their last values after it has ended.
    public var isConnected: Bool { link.error == nil }

    /// The ATT_MTU in octets: the maximum length of an ATT PDU on the link.
    public var mtu: Int { link.mtu }

    /// The current connection parameters.
    public var parameters: CurrentConnectionParameters { link.state.withLock { $0.parameters } }

    /// The PHYs that the link currently uses, in each direction.
    public var phy: LinkPHYs { link.state.withLock { $0.phys } }

    /// Requests other PHYs in both directions, and waits until the controllers have agreed. `phy` then returns the
    /// result.
    ///
    /// The host requests LE 2M automatically if both controllers support it, see `HostConfiguration.prefersLE2M`. LE
    /// Coded has a longer range.
    ///
    /// - Parameters:
    ///   - phys: the preferred PHYs, one or more.
    ///   - options: the preferred coding on LE Coded.
    public func setPreferredPHY(_ phys: LEPHYs, options: LEPHYOptions = .noPreference) async throws(BluetoothError) {
        try await router.call(.setPreferredPHYs(link.identifier, phys, options), on: link)
    }

    /// Measures the signal strength of the peer in dBm. Returns nil if the controller can't measure it (Core 5.4, Vol
    /// 4, Part E, 7.5.4).
    public func rssi() async throws(BluetoothError) -> Int? {
        guard case .rssi(let rssi) = try await router.call(.readRSSI(link.identifier), on: link) else { return nil }
        // 127 means that the RSSI is not available.
        return rssi == .max ? nil : Int(rssi)
    }

    /// Requests new connection parameters, and waits until they apply. A central makes the decision; a peripheral asks
    /// its central, which may refuse.
    public func updateParameters(_ parameters: ConnectionParameters) async throws(BluetoothError) {
        try await router.call(.updateParameters(link.identifier, parameters), on: link)
    }

    /// Ends the link, and waits until it has ended. Does nothing if it has already ended.
    public func disconnect() async throws(BluetoothError) {
        guard link.error == nil else { return }
        _ = try await waitForEnd { _ = router.post(.disconnect(link.identifier, reason: nil)) }
    }

    /// Releases the link. It ends as soon as no other user of the controller needs it. A link that the peer established
    /// stays open.
    ///
    /// Subscriptions and power reports that were requested through this adapter end. Their sequences end without an
    /// error.
    public func release() {
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
        switch end.error.code {
        case .disconnected, .adapterRemoved: return end.reason
        // The adapter itself has ended.
        default: throw end.error
        }
    }

    /// Performs a GATT operation.
    ///
    /// - Parameter known: the service changes that were known when the handles of the operation were found, see
    ///   `HostCall.knownChanges`. Defaults to those that are known now.
    func perform(
        _ operation: GATTClientOperation, known: UInt32? = nil
    ) async throws(BluetoothError) -> GATTClientResult {
        guard
            case .gatt(let result) = try await router.call(
                .perform(link.identifier, operation), on: link, knownChanges: known ?? link.knownChanges)
        else { throw .cancelled }
        return result
    }
}

extension Connection: Hashable {
    /// Whether both values refer to the same link. Two links to the same peer are different.
    public static func == (lhs: Connection, rhs: Connection) -> Bool { lhs.link === rhs.link }

    /// Hashes the identifier of the link.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(link.identifier)
    }
}
