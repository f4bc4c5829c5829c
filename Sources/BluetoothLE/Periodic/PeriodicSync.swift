import BluetoothAdapter
import BluetoothBase
import BluetoothGAP
import BluetoothHost
import BluetoothUsers
import Synchronization

/// A report from one event of periodic advertising, or from one of its subevents.
public struct PeriodicAdvertisement: Sendable {
    /// The AD structures as they were sent.
    public let data: [UInt8]
    /// The received signal strength in dBm; nil if it was not measured.
    public let rssi: Int?
    /// The transmit power in dBm; nil if the advertiser does not include it.
    public let txPowerLevel: Int?
    /// The subevent, 0 to 127; nil for periodic advertising without responses.
    public let subevent: Int?
    /// Whether the end of the data was lost.
    public let isTruncated: Bool
    /// The report that a response refers to.
    let report: PeriodicReport

    /// The decoded AD structures.
    public var advertisement: AdvertisementData { AdvertisementData(data.span) }

    init(_ report: PeriodicReport, _ data: [UInt8]) {
        self.report = report
        self.data = data
        rssi = report.rssi == .max ? nil : Int(report.rssi)
        txPowerLevel = report.txPowerLevel == .max ? nil : Int(report.txPowerLevel)
        subevent = report.subevent.map { Int($0) }
        isTruncated = report.isTruncated
    }
}

/// Periodic advertising that this device receives: a sequence of its reports (Core 5.4, Vol 3, Part C, 9.5.3).
///
/// Copies refer to the same synchronization. It begins when it is created. It ends with `stop()`, or when the last copy
/// of it and of its iterators is released. It throws `.syncEnded` if nothing was received for too long or the
/// controller was reset, or the reason why the adapter is unavailable. Up to 1024 reports are buffered. Beyond that,
/// the oldest are dropped.
public struct PeriodicSync: AsyncSequence, Sendable {
    /// A report from one event of the periodic advertising, or from one of its subevents.
    public typealias Element = PeriodicAdvertisement
    /// The error type: `.syncEnded`, the reason why the adapter is unavailable, or `.cancelled`.
    public typealias Failure = BluetoothError
    /// Takes the reports from the buffer. It keeps the synchronization from ending, like a copy of it.
    public typealias AsyncIterator = EventSequence<PeriodicAdvertisement>.AsyncIterator

    let router: EventRouter
    let identifier: PeriodicSyncIdentifier
    private let reports: EventSequence<PeriodicAdvertisement>
    /// The advertiser, its advertising set, and the interval and PHY of its periodic advertising.
    public let information: PeriodicSyncInformation
    /// The service data from the peer that transferred the synchronization; nil if this device synchronized on its own.
    public let serviceData: UInt16?

    init(
        _ router: EventRouter, _ identifier: PeriodicSyncIdentifier, _ information: PeriodicSyncInformation,
        serviceData: UInt16? = nil, _ queue: AsyncQueue<PeriodicAdvertisement>
    ) {
        self.router = router
        self.identifier = identifier
        self.information = information
        self.serviceData = serviceData
        reports = EventSequence(queue) { [weak router] in router?.endSync(identifier) }
    }

    /// The number of reports that were dropped because the consumer fell behind.
    public var droppedCount: Int { reports.droppedCount }

    /// Creates an iterator over the reports that no iterator has returned yet. Each report goes to only one iterator.
    public func makeAsyncIterator() -> AsyncIterator { reports.makeAsyncIterator() }

    /// Stops receiving the periodic advertising. The sequence ends after the reports that have already arrived. Does
    /// nothing if it has ended.
    public func stop() { router.endSync(identifier)?.finish() }

    /// Enables or disables reports. The controller stays synchronized.
    ///
    /// - Parameter filtersDuplicates: whether to omit data that was reported before, if the advertiser marks new data.
    /// - Throws: `.notSupported`, or `.syncEnded`.
    public func setReporting(_ isReporting: Bool, filtersDuplicates: Bool = false) async throws(BluetoothError) {
        try await router.call(
            .sync(identifier, .setReporting(isReporting, filtersDuplicates: filtersDuplicates)))
    }

    /// Selects the subevents to receive, in place of the previous selection. At first, none is selected.
    ///
    /// - Throws: `.notSupported` for periodic advertising without responses, `.invalidParameters` for subevents that do
    ///   not exist, or `.syncEnded`.
    public func selectSubevents(_ subevents: [Int]) async throws(BluetoothError) {
        try await router.call(.sync(identifier, .selectSubevents(subevents)))
    }

    /// Responds to a report in a response slot of the same event. The time for that is short, see
    /// `PeriodicSubevents.responseSlotDelay`: the controller drops a response that comes too late. The applications
    /// must agree on which device uses which slot.
    ///
    /// - Parameters:
    ///   - data: the response, at most 251 octets.
    ///   - report: the report to respond to.
    ///   - subevent: the subevent in which to respond. Defaults to the subevent of the report.
    ///   - slot: the response slot, counted from 0.
    public func respond(
        _ data: some Collection<UInt8>, to report: PeriodicAdvertisement, in subevent: Int? = nil, slot: Int
    ) async throws(BluetoothError) {
        let data = Array(data)
        try await router.call(
            .sync(identifier, .respond(report.report, subevent: subevent, slot: slot, data)))
    }
}

extension Adapter {
    /// Synchronizes with the periodic advertising of one of these sets, whichever is found first, and returns when it
    /// is synchronized. The adapter scans during that time.
    ///
    ///     let advertiser = PeriodicAdvertiser(peer: sighting.peer, sid: 0)
    ///     let sync = try await adapter.synchronize(with: [advertiser])
    ///     for try await report in sync { … }
    ///
    /// To find out which of a device's sets have periodic advertising, check `AdvertisingDetails.periodicInterval` of
    /// its sightings.
    ///
    /// - Parameters:
    ///   - advertisers: 1 to 32 sets. Some controllers support fewer.
    ///   - timeout: how long to search. With nil, the adapter searches until the task is cancelled.
    /// - Throws: `.notSupported` if the controller does not support periodic advertising; `.timedOut`;
    ///   `.tooManyPending` if sixteen synchronizations exist or are pending; `.invalidParameters`; or
    ///   `.refusedByController`.
    public func synchronize(
        with advertisers: [PeriodicAdvertiser], parameters: PeriodicSyncParameters = PeriodicSyncParameters(),
        timeout: Duration? = nil
    ) async throws(BluetoothError) -> PeriodicSync {
        try router.check()
        let result = try await router.call(.synchronize(advertisers, parameters, timeout: timeout))
        guard case .sync(let identifier, let information) = result else { throw router.closure }
        guard let queue = router.sync(identifier) else {
            // The synchronization has ended before this task continued.
            try router.check()
            throw .syncEnded(.lost)
        }
        return PeriodicSync(router, identifier, information, queue)
    }
}

extension Connection {
    /// Transfers a synchronization to the peer, so that it need not search for the periodic advertising. Returns when
    /// the transfer has been sent. Whether the peer uses it is not known.
    ///
    /// - Parameter serviceData: a value for the peer, whose meaning is defined by the applications.
    /// - Throws: `.notSupported`; `.syncEnded`; or `.refusedByController(.unsupportedRemoteFeature)` if the peer's
    ///   controller does not support transfers.
    public func transfer(_ sync: PeriodicSync, serviceData: UInt16 = 0) async throws(BluetoothError) {
        try await router.call(.transfer(link.identifier, .sync(sync.identifier), serviceData: serviceData), on: link)
    }

    /// Transfers the periodic advertising of one of this device's own sets to the peer. In all other respects, this is
    /// like the transfer of a synchronization.
    ///
    /// - Throws: `.invalidParameters` if the set has no periodic advertising.
    public func transfer(_ set: AdvertisingSet, serviceData: UInt16 = 0) async throws(BluetoothError) {
        try await router.call(.transfer(link.identifier, .set(set.token), serviceData: serviceData), on: link)
    }

    /// Receives the synchronizations that the peer transfers, until the sequence is released or the link ends. Each
    /// element continues without the link. A second call ends the sequence of the first one.
    ///
    /// - Throws: `.notSupported` if the controller does not support transfers, or the reason why the link ended.
    public func periodicSyncs(
        parameters: PeriodicSyncParameters = PeriodicSyncParameters()
    ) async throws(BluetoothError) -> EventSequence<PeriodicSync> {
        try router.check(link)
        let queue = AsyncQueue<PeriodicSync>(capacity: 16, overflow: .dropOldest)
        let former = link.state.withLock { state in
            defer { state.syncs = queue }
            return state.syncs
        }
        former?.finish()
        let sequence = EventSequence(queue) { [weak router, link] in
            let isCurrent = link.state.withLock { state in
                guard state.syncs === queue else { return false }
                state.syncs = nil
                return true
            }
            if isCurrent { router?.post(.acceptTransfers(link.identifier, nil)) }
        }
        try await router.call(.acceptTransfers(link.identifier, parameters), on: link)
        return sequence
    }
}

extension EventRouter {
    /// The queue for the reports of a synchronization.
    func sync(_ identifier: PeriodicSyncIdentifier) -> AsyncQueue<PeriodicAdvertisement>? {
        state.withLock { $0.syncs[identifier] }
    }

    /// Adds the queue for a new synchronization. Reports may arrive before the task that requested it continues.
    @discardableResult
    func addSync(_ identifier: PeriodicSyncIdentifier) -> AsyncQueue<PeriodicAdvertisement> {
        let queue = AsyncQueue<PeriodicAdvertisement>(capacity: 1024, overflow: .dropOldest)
        state.withLock { $0.syncs[identifier] = queue }
        return queue
    }

    /// Ends a synchronization and removes its queue. Returns nil if it has already ended.
    @discardableResult
    func endSync(_ identifier: PeriodicSyncIdentifier) -> AsyncQueue<PeriodicAdvertisement>? {
        guard let queue = state.withLock({ $0.syncs.removeValue(forKey: identifier) }) else { return nil }
        post(.sync(identifier, .end))
        return queue
    }

    func handle(_ event: UserEvent.Periodic, of sync: PeriodicSyncIdentifier, _ data: [UInt8]) {
        switch event {
        case .report(let report): self.sync(sync)?.push(PeriodicAdvertisement(report, data))
        case .ended(let end):
            let queue = state.withLock { $0.syncs.removeValue(forKey: sync) }
            queue?.finish(.syncEnded(end))
        case .transferred(let link, let serviceData, let information):
            guard let queue = self.link(link)?.state.withLock({ $0.syncs }) else {
                post(.sync(sync, .end))
                return
            }
            queue.push(PeriodicSync(self, sync, information, serviceData: serviceData, addSync(sync)))
        }
    }
}
