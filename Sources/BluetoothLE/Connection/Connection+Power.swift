import BluetoothUsers
import Synchronization
import BluetoothAdapter
import BluetoothHost

extension Connection {
    /// Reads this device's transmit power on the link (Core 5.4, Vol 4, Part E, 7.8.117).
    ///
    /// - Throws: `.notSupported` if the controller cannot report it.
    public func readTransmitPower() async throws(BluetoothError) -> LinkTransmitPower {
        try await read(.readTransmitPower)
    }

    /// Reads the peer's transmit power on the link, with a request to the peer (Core 5.4, Vol 4, Part E, 7.8.118).
    ///
    /// - Throws: `.notSupported` if the controller does not support power control; `.refusedByController` with
    ///   `.unsupportedRemoteFeature` if the peer's controller does not; `.tooManyPending` while another such request is
    ///   pending.
    public func readRemoteTransmitPower() async throws(BluetoothError) -> LinkTransmitPower {
        try await read(.readRemoteTransmitPower)
    }

    /// Reports the path loss of the link until the sequence is released: first the current zone, then each change of
    /// the zone (Core 5.4, Vol 4, Part E, 7.8.119 and 7.8.120).
    ///
    ///     let zones = PathLossThresholds(low: 50, high: 75)
    ///     let reports = try await connection.pathLossReports(thresholds: zones)
    ///     for try await report in reports {
    ///         print(report.zone == .high ? "far" : "near")
    ///     }
    ///
    /// Up to 64 reports are buffered. Beyond that, the oldest are dropped.
    ///
    /// - Throws: `.notSupported` if the controller does not measure path loss; `.invalidParameters` if the zones
    ///   overlap; `.tooManyPending` while another such sequence exists, because a link has one set of thresholds. The
    ///   sequence throws the reason why the link ended.
    public func pathLossReports(
        thresholds: PathLossThresholds
    ) async throws(BluetoothError) -> EventSequence<PathLossReport> {
        let queue = AsyncQueue<PathLossReport>(capacity: Self.reportCapacity, overflow: .dropOldest)
        return try await watch(.reportPathLoss(thresholds), .pathLoss(queue), queue)
    }

    /// Reports changes of the transmit power of this device, the peer or both, until the sequence is released (Core
    /// 5.4, Vol 4, Part E, 7.8.121).
    ///
    /// Up to 64 changes are buffered. Beyond that, the oldest are dropped.
    ///
    /// - Throws: `.notSupported` if the controller does not report them; `.invalidParameters` if neither side is
    ///   selected; `.tooManyPending` while another such sequence exists. The sequence throws the reason why the link
    ///   ended.
    public func transmitPowerChanges(
        local: Bool = true, remote: Bool = true
    ) async throws(BluetoothError) -> EventSequence<TransmitPowerChange> {
        let queue = AsyncQueue<TransmitPowerChange>(capacity: Self.reportCapacity, overflow: .dropOldest)
        return try await watch(.reportTransmitPower(local: local, remote: remote), .transmitPower(queue), queue)
    }

    private static var reportCapacity: Int { 64 }

    private func read(_ call: PowerCall) async throws(BluetoothError) -> LinkTransmitPower {
        guard case .transmitPower(let power) = try await router.call(.power(link.identifier, call), on: link)
        else { throw .cancelled }
        return power
    }

    private func watch<Element: Sendable>(
        _ call: PowerCall, _ watcher: LinkState.PowerWatcher, _ queue: AsyncQueue<Element>
    ) async throws(BluetoothError) -> EventSequence<Element> {
        try router.check(link)
        guard let token = router.calls.insert(.beginning(nil)) else { throw router.closure }
        // Before reports are enabled, so that the first one is not missed.
        try link.add(watcher, token)
        do throws(BluetoothError) {
            try await router.wait(as: token) { router.post(.power(link.identifier, call), token: token) }
        } catch {
            link.removePowerWatcher(token)
            throw link.explained(error)
        }
        return EventSequence(queue) { [weak router, link] in
            link.removePowerWatcher(token)
            router?.post(.cancel, token: token)
        }
    }
}

extension LinkState {
    /// A consumer of the controller's power reports.
    enum PowerWatcher {
        case pathLoss(AsyncQueue<PathLossReport>)
        case transmitPower(AsyncQueue<TransmitPowerChange>)

        func push(_ event: LinkPowerEvent) {
            switch (self, event) {
            case (.pathLoss(let queue), .pathLoss(let report)): queue.push(report)
            case (.transmitPower(let queue), .transmitPower(let change)): queue.push(change)
            case (.pathLoss, _), (.transmitPower, _): return
            }
        }

        func finish(_ error: BluetoothError?) {
            switch self {
            case .pathLoss(let queue): queue.finish(error)
            case .transmitPower(let queue): queue.finish(error)
            }
        }
    }

    /// Adds a consumer, unless the link has ended.
    func add(_ watcher: PowerWatcher, _ token: CallToken) throws(BluetoothError) {
        if let error = state.withLock({ state -> BluetoothError? in
            if state.end == nil { state.powerWatchers[token] = watcher }
            return state.end?.error
        }) {
            throw error
        }
    }

    func removePowerWatcher(_ token: CallToken) {
        state.withLock { _ = $0.powerWatchers.removeValue(forKey: token) }
    }

    func removePowerWatchers() -> [PowerWatcher] {
        state.withLock { state in
            defer { state.powerWatchers = [:] }
            return Array(state.powerWatchers.values)
        }
    }
}
