import BluetoothUsers
import Synchronization
import BluetoothAdapter
import BluetoothHost

extension Connection {
    /// The power that this device sends with on the link (Core 5.4, Vol 4, Part E, 7.8.117).
    ///
    /// - Throws: `.notSupported` where the controller cannot tell.
    public func readTransmitPower() async throws(BluetoothError) -> LinkTransmitPower {
        try await read(.readTransmitPower)
    }

    /// The power that the peer sends with, which the peer is asked for (Core 5.4, Vol 4, Part E, 7.8.118).
    ///
    /// - Throws: `.notSupported` where the controller has no power control, `.refusedByController` with
    ///   `.unsupportedRemoteFeature` where the peer's has none, `.tooManyPending` while another such request waits.
    public func readRemoteTransmitPower() async throws(BluetoothError) -> LinkTransmitPower {
        try await read(.readRemoteTransmitPower)
    }

    /// How much of the signal is lost on its way from the peer: the zone it is in at first, and each change of the zone, until the
    /// sequence is released (Core 5.4, Vol 4, Part E, 7.8.119 and 7.8.120).
    ///
    ///     let zones = PathLossThresholds(low: 50, high: 75)
    ///     for try await report in try await connection.pathLossReports(zones) {
    ///         print(report.zone == .high ? "far" : "near")
    ///     }
    ///
    /// Up to 64 reports wait for their consumer; beyond that the oldest are dropped.
    ///
    /// - Throws: `.notSupported` where the controller does not measure it, `.invalidParameters` for zones that overlap,
    ///   `.tooManyPending` while there is another such sequence: a link has one set of thresholds. What ends the link ends the
    ///   sequence.
    public func pathLossReports(
        _ thresholds: PathLossThresholds
    ) async throws(BluetoothError) -> EventSequence<PathLossReport> {
        let queue = AsyncQueue<PathLossReport>(capacity: Self.reportCapacity, overflow: .dropOldest)
        return try await watch(.reportPathLoss(thresholds), .pathLoss(queue), queue)
    }

    /// Changes of the power that this device, the peer or either sends with, until the sequence is released (Core 5.4, Vol 4,
    /// Part E, 7.8.121).
    ///
    /// Up to 64 changes wait for their consumer; beyond that the oldest are dropped.
    ///
    /// - Throws: `.notSupported` where the controller does not report them, `.invalidParameters` for neither side,
    ///   `.tooManyPending` while there is another such sequence. What ends the link ends the sequence.
    public func transmitPowerChanges(
        local: Bool = true, remote: Bool = true
    ) async throws(BluetoothError) -> EventSequence<TransmitPowerChange> {
        let queue = AsyncQueue<TransmitPowerChange>(capacity: Self.reportCapacity, overflow: .dropOldest)
        return try await watch(.reportTransmitPower(local: local, remote: remote), .transmitPower(queue), queue)
    }

    private static var reportCapacity: Int { 64 }

    private func read(_ call: PowerCall) async throws(BluetoothError) -> LinkTransmitPower {
        try router.check(link)
        guard case .transmitPower(let power) = try await router.call(.power(link.identifier, call))
        else { throw .cancelled }
        return power
    }

    private func watch<Element: Sendable>(
        _ call: PowerCall, _ watcher: Link.PowerWatcher, _ queue: AsyncQueue<Element>
    ) async throws(BluetoothError) -> EventSequence<Element> {
        try router.check(link)
        guard let token = router.calls.insert(.beginning(nil)) else { throw router.closure }
        // Before reports are on, so that the first is not missed.
        try link.add(watcher, token)
        do throws(BluetoothError) {
            try await router.wait(as: token) { router.post(.power(link.identifier, call), token: token) }
        } catch {
            link.removePowerWatcher(token)
            throw error
        }
        return EventSequence(queue) { [weak router, link] in
            link.removePowerWatcher(token)
            router?.post(.cancel, token: token)
        }
    }
}

extension Link {
    /// A consumer of what the controller reports about power.
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
