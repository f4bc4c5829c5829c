import BluetoothAdapter
import BluetoothBase
import BluetoothGAP
import BluetoothHost
import BluetoothUsers
import Synchronization

/// What was received in one event of periodic advertising, or in one of its subevents.
public struct PeriodicAdvertisement: Sendable {
    /// The AD structures as they were sent.
    public let data: [UInt8]
    /// In dBm; nil where it was not measured.
    public let rssi: Int?
    /// The transmit power in dBm; nil where the advertiser does not say it.
    public let txPowerLevel: Int?
    /// The subevent, 0 to 127; nil for periodic advertising without responses.
    public let subevent: Int?
    /// Whether the end of the data was lost.
    public let isTruncated: Bool
    /// What an answer refers to.
    let report: PeriodicReport

    /// What the AD structures say.
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

/// Periodic advertising that is received: a sequence of what it brings (Core 5.4, Vol 3, Part C, 9.5.3).
///
/// Copies refer to the same. It begins when it is made, and ends with `stop()`, when the last copy of it and of its iterators is gone,
/// or by throwing: `.syncEnded` where nothing was received for too long or the controller was reset, or why the adapter is gone.
/// Up to 1024 reports wait for their consumer; beyond that the oldest are dropped.
public struct PeriodicSync: AsyncSequence, Sendable {
    public typealias Element = PeriodicAdvertisement
    public typealias Failure = BluetoothError
    public typealias AsyncIterator = EventSequence<PeriodicAdvertisement>.AsyncIterator

    let router: EventRouter
    let identifier: PeriodicSyncIdentifier
    private let reports: EventSequence<PeriodicAdvertisement>
    /// The advertiser, its set, and how often it sends on which PHY.
    public let information: PeriodicSyncInformation
    /// What the peer has told with it that passed it on; nil where this device looked for it.
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

    /// How many reports were dropped because their consumer fell behind.
    public var droppedCount: Int { reports.droppedCount }

    public func makeAsyncIterator() -> AsyncIterator { reports.makeAsyncIterator() }

    /// Does not receive it any more: the sequence ends after what has come already. Does nothing where it has ended.
    public func stop() async { router.endSync(identifier)?.finish() }

    /// Has the controller report what it receives, or not; it stays synchronized.
    ///
    /// - Parameter filtersDuplicates: whether data that was reported before is left out, where the advertiser says which is new.
    /// - Throws: `.notSupported`; `.syncEnded`.
    public func setReporting(_ isReporting: Bool, filtersDuplicates: Bool = false) async throws(BluetoothError) {
        try await router.call(
            .sync(identifier, .setReporting(isReporting, filtersDuplicates: filtersDuplicates)))
    }

    /// Chooses the subevents that are received, in place of those before; at first there are none.
    ///
    /// - Throws: `.notSupported` without responses, `.invalidParameters` for subevents that there are not; `.syncEnded`.
    public func select(subevents: [Int]) async throws(BluetoothError) {
        try await router.call(.sync(identifier, .selectSubevents(subevents)))
    }

    /// Answers a report in a slot of the same event. There is little time for that, see `PeriodicSubevents.responseSlotDelay`: what
    /// comes too late is dropped by the controller. Which slot is whose is up to the applications.
    ///
    /// - Parameters:
    ///   - subevent: in which the answer is sent; nil for that of the report.
    ///   - slot: which of its response slots, counted from 0.
    ///   - data: at most 251 octets.
    public func respond(
        to report: PeriodicAdvertisement, in subevent: Int? = nil, slot: Int, _ data: [UInt8]
    ) async throws(BluetoothError) {
        try await router.call(
            .sync(identifier, .respond(report.report, subevent: subevent, slot: slot, data)))
    }
}

extension Adapter {
    /// Receives the periodic advertising of one of these sets, the one that is found first, and returns once it does. Scanning goes on
    /// meanwhile, as far as that is needed.
    ///
    ///     let advertiser = PeriodicAdvertiser(peer: sighting.peer, sid: 0)
    ///     let sync = try await adapter.synchronize(with: [advertiser])
    ///     for try await report in sync { … }
    ///
    /// Which of a device's sets have periodic advertising is in `AdvertisingDetails.periodicInterval` of its sightings.
    ///
    /// - Parameters:
    ///   - advertisers: 1 to 32 sets; some controllers take fewer.
    ///   - timeout: how long to look; nil until the task is cancelled.
    /// - Throws: `.notSupported` where the controller has no periodic advertising; `.timedOut`; `.tooManyPending` beyond sixteen;
    ///   `.invalidParameters`; or why the controller refused.
    public func synchronize(
        with advertisers: [PeriodicAdvertiser], parameters: PeriodicSyncParameters = PeriodicSyncParameters(),
        timeout: Duration? = nil
    ) async throws(BluetoothError) -> PeriodicSync {
        try router.check()
        let result = try await router.call(.synchronize(advertisers, parameters, timeout: timeout))
        guard case .sync(let identifier, let information) = result else { throw router.closure }
        guard let queue = router.sync(identifier) else {
            // It has ended before this task went on.
            try router.check()
            throw .syncEnded(.lost)
        }
        return PeriodicSync(router, identifier, information, queue)
    }
}

extension Connection {
    /// Tells the peer of periodic advertising that this device receives, so that it need not look for it. Returns when that has been
    /// sent; whether the peer makes use of it is not known.
    ///
    /// - Parameter serviceData: what the peer is told with it; its meaning is up to the applications.
    /// - Throws: `.notSupported`; `.syncEnded`; `.refusedByController(.unsupportedRemoteFeature)` where the peer's controller cannot.
    public func transfer(_ sync: PeriodicSync, serviceData: UInt16 = 0) async throws(BluetoothError) {
        try router.check(link)
        try await router.call(.transfer(link.identifier, .sync(sync.identifier), serviceData: serviceData))
    }

    /// Tells the peer of the periodic advertising of a set of this device, otherwise as `transfer(_:serviceData:)` does of what is
    /// received.
    ///
    /// - Throws: `.invalidParameters` where the set has none.
    public func transfer(_ set: AdvertisingSet, serviceData: UInt16 = 0) async throws(BluetoothError) {
        try router.check(link)
        try await router.call(.transfer(link.identifier, .set(set.token), serviceData: serviceData))
    }

    /// Receives the periodic advertising of which the peer tells, until the sequence is released or the link ends. Each element goes on
    /// without the link. A second call takes over from the first.
    ///
    /// - Throws: `.notSupported` where the controller cannot; why the link has ended.
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
        try await router.call(.acceptTransfers(link.identifier, parameters))
        return sequence
    }
}

extension EventRouter {
    /// Where the reports go of what is received.
    func sync(_ identifier: PeriodicSyncIdentifier) -> AsyncQueue<PeriodicAdvertisement>? {
        state.withLock { $0.syncs[identifier] }
    }

    /// It is received from now on. Reports may come before its caller goes on.
    @discardableResult
    func addSync(_ identifier: PeriodicSyncIdentifier) -> AsyncQueue<PeriodicAdvertisement> {
        let queue = AsyncQueue<PeriodicAdvertisement>(capacity: 1024, overflow: .dropOldest)
        state.withLock { $0.syncs[identifier] = queue }
        return queue
    }

    /// Nobody wants it any more.
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
