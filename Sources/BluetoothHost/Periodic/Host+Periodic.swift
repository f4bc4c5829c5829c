import BluetoothBase
import BluetoothGAP
import BluetoothHCI

/// Receiving periodic advertising: calls, and the controller's reports (Core 5.4, Vol 3, Part C, 9.5.3).
extension Host {
    // MARK: Calls

    /// Synchronizes to the periodic advertising of one of several sets, whichever is found first. The host reports
    /// either `HostEvent.Periodic.established` or `.failed`, exactly once.
    ///
    /// The host scans until then. If several requests are pending, the controller tries each of them for some seconds
    /// in turn. Pending requests continue after a reset of the controller. Established synchronizations end with
    /// `.controllerReset`.
    ///
    /// - Parameters:
    ///   - advertisers: the sets, 1 to 32. A controller may accept fewer, in which case the request fails with `.busy`.
    ///   - timeout: the time after which the request fails; nil to try until `endSync` is called.
    /// - Throws: `.unsupported` if the controller does not support periodic advertising, `.busy` if 16 sets are already
    ///   received or requested.
    public mutating func synchronize(
        with advertisers: [PeriodicAdvertiser], parameters: PeriodicSyncParameters = PeriodicSyncParameters(),
        timeout: Duration? = nil, at now: Instant
    ) throws(HostError) -> PeriodicSyncIdentifier {
        guard lifecycle.isUp else { throw .notReady }
        guard (1...32).contains(advertisers.count), advertisers.allSatisfy({ $0.sid <= 0x0F }), parameters.isValid,
            Set(advertisers).count == advertisers.count
        else { throw .invalidParameters }
        guard !lacksPrivacy else { throw .unsupported(.resolvableAddresses) }
        guard radio.periodic.contains(.synchronizing) else { throw .unsupported(.periodicSynchronization) }
        guard !parameters.phys.contains(.leCoded) || radio.phys.contains(.leCoded) else { throw .unsupported(.leCoded) }
        guard !synchronizer.isFull else { throw .busy }
        let identifier = makeSyncIdentifier()
        synchronizer.add(
            PeriodicSynchronizer.Request(
                identifier: identifier, advertisers: advertisers, parameters: parameters,
                deadline: timeout.map { now.advanced(by: $0) }))
        advanceSynchronizing(at: now)
        return identifier
    }

    /// Ends a synchronization, or cancels a pending request. The request fails with `HostError.cancelled`. An
    /// established synchronization ends without an event.
    public mutating func endSync(_ sync: PeriodicSyncIdentifier, at now: Instant) {
        if synchronizer.remove(sync) {
            events.append(.periodic(sync, .failed(.cancelled)))
            return advanceSynchronizing(at: now)
        }
        guard let index = synchronizer.index(of: sync) else { return }
        let ended = synchronizer.removeSync(at: index)
        send(LEPeriodicAdvertisingTerminateSync(syncHandle: ended.handle), for: .none, at: now)
    }

    /// The properties of periodic advertising that is being received; nil if it is not.
    public func information(of sync: PeriodicSyncIdentifier) -> PeriodicSyncInformation? {
        synchronizer.index(of: sync).map { synchronizer.syncs[$0].information }
    }

    /// Enables or disables reports (Core 5.4, Vol 4, Part E, 7.8.88). The controller stays synchronized while they are
    /// disabled.
    ///
    /// - Throws: `.unsupported` if the controller lacks the command, `.noSuchSync` if the periodic advertising is not
    ///   being received.
    public mutating func setReporting(
        _ isReporting: Bool, filtersDuplicates: Bool = false, of sync: PeriodicSyncIdentifier, at now: Instant
    ) throws(HostError) {
        let handle = try handle(of: sync)
        guard controller?.commands.contains(.leSetPeriodicAdvertisingReceiveEnable) == true else {
            throw .unsupported(.periodicReporting)
        }
        var reporting: PeriodicReporting = isReporting ? .enabled : []
        if filtersDuplicates { reporting.insert(.filtersDuplicates) }
        try sendForSync(LESetPeriodicAdvertisingReceiveEnable(syncHandle: handle, reporting: reporting), at: now)
    }

    func handle(of sync: PeriodicSyncIdentifier) throws(HostError) -> SyncHandle {
        guard let index = synchronizer.index(of: sync) else { throw .noSuchSync }
        return synchronizer.syncs[index].handle
    }

    mutating func sendForSync(_ command: some HCICommand, at now: Instant) throws(HostError) {
        guard sendOptional(command, for: .none, at: now) else { throw .busy }
    }

    mutating func makeSyncIdentifier() -> PeriodicSyncIdentifier {
        PeriodicSyncIdentifier(number: purposes.makeRequest().number)
    }

    // MARK: Advancing

    mutating func advanceSynchronizing(at now: Instant) {
        guard lifecycle.isUp else { return }
        let addresses = (synchronizer.requests.first?.advertisers ?? []).map { advertiser in
            let address = reachableAddress(of: advertiser.peer) ?? advertiser.peer.firstAddress
            let isPublic = address.kind == .public || address.kind == .publicIdentity
            return DeviceAddress(address.value, kind: isPublic ? .public : .random)
        }
        let effects = synchronizer.advance(addresses, at: now)
        perform(effects, at: now)
        advanceScanning(at: now)
    }

    mutating func answered(_ step: PeriodicSynchronizer.Step, _ status: HCIStatus, at now: Instant) {
        perform(synchronizer.answered(step, status, at: now), at: now)
        advanceSynchronizing(at: now)
    }

    mutating func fireSynchronizing(at now: Instant) {
        guard let deadline = synchronizer.nextDeadline, deadline <= now else { return }
        perform(synchronizer.fire(at: now), at: now)
        advanceSynchronizing(at: now)
    }

    // MARK: Events

    /// Handles LE Periodic Advertising Sync Established, of either version (Vol 4, Part E, 7.7.65.14).
    mutating func syncEstablished(_ status: HCIStatus, _ new: NewSync, at now: Instant) {
        let request = synchronizer.ended(status, at: now)
        if status == .success {
            if let request {
                let information = insert(new, as: request.identifier)
                events.append(.periodic(request.identifier, .established(information)))
            } else {
                send(LEPeriodicAdvertisingTerminateSync(syncHandle: new.handle), for: .none, at: now)
            }
        }
        advanceSynchronizing(at: now)
    }

    /// Inserts a new synchronization. A previous one with the same handle ends.
    mutating func insert(_ new: NewSync, as identifier: PeriodicSyncIdentifier) -> PeriodicSyncInformation {
        if let index = synchronizer.index(of: new.handle) {
            events.append(.periodic(synchronizer.removeSync(at: index).identifier, .ended(.lost)))
        }
        let information = PeriodicSyncInformation(
            peer: peers.peer(at: new.address), address: new.address, sid: new.sid, phy: new.phy,
            interval: PeriodicAdvertising.unit * Int(new.interval.rawValue), subevents: new.subevents)
        synchronizer.insert(EstablishedSync(identifier: identifier, handle: new.handle, information: information))
        return information
    }

    /// Handles LE Periodic Advertising Sync Lost (7.7.65.16).
    mutating func syncLost(_ lost: LEPeriodicAdvertisingSyncLost) {
        guard let index = synchronizer.index(of: lost.syncHandle) else { return }
        events.append(.periodic(synchronizer.removeSync(at: index).identifier, .ended(.lost)))
    }

    /// Handles LE Periodic Advertising Report, of either version (7.7.65.15).
    mutating func receive(_ report: borrowing LEPeriodicAdvertisingReport) {
        // Data status 0xFF means that nothing was received. Reports of a synchronization that was ended may still
        // arrive.
        guard report.dataStatus != 0xFF, let index = synchronizer.index(of: report.syncHandle) else { return }
        let outcome = synchronizer.receive(report, at: index)
        let payload: Payload
        var isTruncated = false
        switch outcome {
        case .incomplete: return
        case .whole: payload = events.store(report.data)
        case .joined(let lacks):
            let joined = synchronizer.takePartial(at: index)
            payload = events.store(joined.span)
            isTruncated = lacks
        }
        let subevent = report.subevent
        let received = PeriodicReport(
            rssi: report.rssi, txPowerLevel: report.transmitPower, eventCounter: subevent?.eventCounter,
            subevent: subevent.flatMap { $0.number == 0xFF ? nil : $0.number }, isTruncated: isTruncated, data: payload)
        events.append(.periodic(synchronizer.syncs[index].identifier, .report(received)))
    }
}

/// The values of the events that report a new synchronization.
struct NewSync: Sendable {
    var handle: SyncHandle
    var sid: UInt8
    var address: DeviceAddress
    var phy: LEPHY
    var interval: ConnectionInterval
    var subevents: PeriodicSubevents?

    init(_ event: LEPeriodicAdvertisingSyncEstablished) {
        handle = event.syncHandle
        sid = event.advertisingSID
        address = event.advertiserAddress
        phy = event.phy
        interval = event.interval
    }

    init(_ event: LEPeriodicAdvertisingSyncEstablishedV2) {
        handle = event.syncHandle
        sid = event.advertisingSID
        address = event.advertiserAddress
        phy = event.phy
        interval = event.interval
        subevents = PeriodicSubevents(
            count: event.subeventCount, interval: event.subeventInterval, delay: event.responseSlotDelay,
            spacing: event.responseSlotSpacing)
    }

    init(_ event: LEPeriodicAdvertisingSyncTransferReceived) {
        handle = event.syncHandle
        sid = event.advertisingSID
        address = event.advertiserAddress
        phy = event.phy
        interval = event.interval
    }

    init(_ event: LEPeriodicAdvertisingSyncTransferReceivedV2) {
        handle = event.syncHandle
        sid = event.advertisingSID
        address = event.advertiserAddress
        phy = event.phy
        interval = event.interval
        subevents = PeriodicSubevents(
            count: event.subeventCount, interval: event.subeventInterval, delay: event.responseSlotDelay,
            spacing: event.responseSlotSpacing)
    }
}

extension PeriodicSubevents {
    /// Creates subevents from the parameters of an event; nil if it has none.
    fileprivate init?(count: UInt8, interval: UInt8, delay: UInt8, spacing: UInt8) {
        guard count > 0 else { return nil }
        let unit = PeriodicAdvertising.unit
        self.init(
            count: Int(count), interval: unit * Int(interval), responseSlotDelay: unit * Int(delay),
            responseSlotSpacing: Self.slotUnit * Int(spacing), responseSlotCount: 0)
    }
}
