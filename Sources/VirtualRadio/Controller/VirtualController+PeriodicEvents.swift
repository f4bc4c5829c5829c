import BluetoothBase
import BluetoothHCI

/// The events that report periodic advertising to the host (Core 5.4, Vol 4, Part E, 7.7.65).
extension VirtualController {
    // MARK: - Synchronizing

    mutating func createSync(_ request: LEPeriodicAdvertisingCreateSync) -> HCIStatus {
        let options: PeriodicSyncOptions = [.usesAdvertiserList, .disablesReports, .filtersDuplicates]
        let usesList = request.options.contains(.usesAdvertiserList)
        guard request.options.isSubset(of: options), usesList || request.advertisingSID <= 0x0F,
            PeriodicReporting.isValid(skip: request.skip, request.timeout)
        else { return .invalidCommandParameters }
        guard settings.synchronizer.request == nil else { return .commandDisallowed }
        let isKnown = settings.synchronizer.syncs.contains {
            $0?.isEstablished == true && $0?.address.unresolved == request.advertiserAddress.unresolved
                && $0?.announcement.advertisingSID == request.advertisingSID
        }
        guard usesList || !isKnown else { return .connectionAlreadyExists }
        guard settings.synchronizer.syncs.contains(where: { $0 == nil }) else { return .memoryCapacityExceeded }
        settings.synchronizer.request = request
        return .success
    }

    mutating func endRequest() {
        settings.synchronizer.request = nil
        settings.synchronizer.requested = nil
    }

    /// Uses version 2 of the event if the host has enabled it.
    mutating func reportSync(_ place: Int, _ sync: Synchronizer.Sync, _ train: PeriodicTrain) {
        guard sync.connection == nil else { return reportTransfer(.success, place, sync, train) }
        let first = LEPeriodicAdvertisingSyncEstablished(
            syncHandle: Synchronizer.handle(of: place), advertisingSID: sync.announcement.advertisingSID,
            advertiserAddress: sync.address, phy: sync.announcement.phy, interval: sync.announcement.interval,
            clockAccuracy: ClockAccuracy(rawValue: 0))
        report(first, train)
    }

    mutating func reportSyncFailure(_ status: HCIStatus, of request: LEPeriodicAdvertisingCreateSync) {
        let first = LEPeriodicAdvertisingSyncEstablished(
            status: status, syncHandle: SyncHandle(0), advertisingSID: request.advertisingSID,
            advertiserAddress: request.advertiserAddress, phy: .le1M, interval: ConnectionInterval(rawValue: 0),
            clockAccuracy: ClockAccuracy(rawValue: 0))
        report(first, PeriodicTrain())
    }

    private mutating func report(_ first: LEPeriodicAdvertisingSyncEstablished, _ train: PeriodicTrain) {
        let second = LEPeriodicAdvertisingSyncEstablishedV2(
            status: first.status, syncHandle: first.syncHandle, advertisingSID: first.advertisingSID,
            advertiserAddress: first.advertiserAddress, phy: first.phy, interval: first.interval,
            clockAccuracy: first.clockAccuracy, subeventCount: train.subeventCount,
            subeventInterval: train.parameters?.subeventInterval ?? 0,
            responseSlotDelay: train.parameters?.responseSlotDelay ?? 0,
            responseSlotSpacing: train.parameters?.responseSlotSpacing ?? 0)
        if !send(second) { send(first) }
    }

    mutating func reportTransfer(
        _ status: HCIStatus, _ place: Int, _ sync: Synchronizer.Sync, _ train: PeriodicTrain
    ) {
        let told = sync.announcement
        guard let connection = sync.connection else { return }
        let handle = status == .success ? Synchronizer.handle(of: place) : SyncHandle(rawValue: 0)
        let second = LEPeriodicAdvertisingSyncTransferReceivedV2(
            status: status, connectionHandle: connection, serviceData: told.serviceData, syncHandle: handle,
            advertisingSID: told.advertisingSID, advertiserAddress: sync.address, phy: told.phy,
            interval: told.interval, clockAccuracy: ClockAccuracy(rawValue: 0), subeventCount: train.subeventCount,
            subeventInterval: train.parameters?.subeventInterval ?? 0,
            responseSlotDelay: train.parameters?.responseSlotDelay ?? 0,
            responseSlotSpacing: train.parameters?.responseSlotSpacing ?? 0)
        guard !send(second) else { return }
        send(
            LEPeriodicAdvertisingSyncTransferReceived(
                status: status, connectionHandle: connection, serviceData: told.serviceData, syncHandle: handle,
                advertisingSID: told.advertisingSID, advertiserAddress: sync.address, phy: told.phy,
                interval: told.interval, clockAccuracy: ClockAccuracy(rawValue: 0)))
    }

    // MARK: - Reports

    /// Whether to report a packet: false if reporting is disabled, or if duplicates are filtered and its data was
    /// reported before.
    mutating func admitsReport(_ place: Int, of identifier: UInt16?) -> Bool {
        guard let sync = settings.synchronizer.syncs[place], sync.reporting.contains(.enabled) else { return false }
        guard sync.reporting.contains(.filtersDuplicates), let identifier else { return true }
        guard sync.reportedIdentifier != identifier else { return false }
        settings.synchronizer.syncs[place]?.reportedIdentifier = identifier
        return true
    }

    /// The maximum data length in either version of the report event.
    private static let longestPeriodicReports = (first: 247, second: 244)

    mutating func reportPeriodic(
        _ place: Int, _ set: AdvertisingState, _ data: [UInt8], _ subevent: LEPeriodicAdvertisingReport.Subevent,
        rssi: Int8
    ) {
        let isSecond = wants(.periodicAdvertisingReportV2)
        guard isSecond || wants(.periodicAdvertisingReport), reachesHost, hasRoomForData,
            settings.synchronizer.syncs[place]?.reporting.contains(.enabled) == true
        else { return }
        let longest = isSecond ? Self.longestPeriodicReports.second : Self.longestPeriodicReports.first
        var start = 0
        repeat {
            let end = min(start + longest, data.count)
            var report = LEPeriodicAdvertisingReport(
                syncHandle: Synchronizer.handle(of: place), rssi: rssi, subevent: isSecond ? subevent : nil,
                dataStatus: end < data.count ? 1 : 0, data: data.span.extracting(start..<end))
            if set.periodic.parameters?.properties.contains(.includesTransmitPower) == true {
                report.transmitPower = configuration.transmitPower
            }
            report.encodePacket(into: &outbox.writer)
            outbox.commit()
            start = end
        } while start < data.count
    }

    /// Reports the response in a response slot, in two events if it is long.
    ///
    /// - Parameter data: nil if the response could not be received.
    mutating func reportResponse(
        _ handle: AdvertisingHandle, _ subevent: UInt8, _ slot: UInt8, _ data: [UInt8]?, rssi: Int8
    ) {
        guard wants(.periodicAdvertisingResponseReport), reachesHost, hasRoomForData else { return }
        let isLost = data == nil
        let data = data ?? []
        var start = 0
        repeat {
            let end = min(start + Self.longestResponseReport, data.count)
            let status: UInt8 = isLost ? 0xFF : end < data.count ? 1 : 0
            let head: [UInt8] = [
                HCIPacketType.event.rawValue, HCIEventCode.leMeta.rawValue, UInt8(11 + end - start),
                LESubeventCode.periodicAdvertisingResponseReport.rawValue, handle.rawValue, subevent, 0, 1, 127,
                UInt8(bitPattern: rssi), 0xFF, slot, status, UInt8(end - start),
            ]
            outbox.writer.append(head.span)
            outbox.writer.append(data.span.extracting(start..<end))
            outbox.commit()
            start = end
        } while start < data.count
    }

    /// The maximum data length in an event with one response.
    private static let longestResponseReport = 244
}
