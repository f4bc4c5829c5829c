import BluetoothBase
import BluetoothHCI

/// The reports a scanning controller sends to its host (Core 5.4, Vol 4, Part E, 7.7.65.2 and 7.7.65.13).
extension VirtualController {
    /// Reports a received packet, unless the duplicate filter contains it or the host reads too slowly.
    ///
    /// - Parameters:
    ///   - target: the target of directed advertising; nil for undirected advertising.
    ///   - isResponse: whether the packet is the scan response.
    mutating func report(
        _ advertisement: AdvertisingState, by device: SeenDevice, for target: DeviceAddress?, isResponse: Bool,
        rssi: Int8,
        at time: Instant
    ) {
        guard settings.scanner.isExtended else {
            return reportLegacy(advertisement, device.reportedAddress, isResponse: isResponse, rssi: rssi, at: time)
        }
        guard wants(.extendedAdvertisingReport), hasRoomForData else { return }
        let type = advertisement.extendedEventType(isResponse: isResponse)
        let address = advertisement.isAnonymous ? nil : device.reportedAddress
        let isLegacy = advertisement.isLegacy
        let entry = DuplicateFilter.Entry(
            address: address, eventType: type.rawValue, set: isLegacy ? 0xFF : advertisement.parameters.advertisingSID,
            dataIdentifier: isLegacy ? 0 : advertisement.dataIdentifier)
        guard settings.scanner.admits(entry, at: time) else { return }
        let data = advertisement.payload(isResponse: isResponse)
        var start = 0
        repeat {
            let end = min(start + Self.longestReport, data.count)
            var report = LEExtendedAdvertisingReport(
                eventType: type, address: address, rssi: rssi, data: data.span.extracting(start..<end))
            if end < data.count { report.eventType.dataStatus = .incompleteMoreToCome }
            if !isLegacy {
                report.primaryPHY = advertisement.parameters.primaryPHY
                report.secondaryPHY = advertisement.parameters.secondaryPHY
                report.advertisingSID = advertisement.parameters.advertisingSID
                if advertisement.periodic.isOnAir {
                    report.periodicAdvertisingInterval = advertisement.periodic.interval
                }
                if advertisement.properties.contains(.includesTransmitPower) {
                    report.transmitPower = advertisement.parameters.transmitPower
                }
            }
            if let target { report.directAddress = .init(type: target.kind.rawValue, value: target.value) }
            send(report)
            start = end
        } while start < data.count
    }

    /// The maximum data length in one extended report.
    private static let longestReport = 229

    private mutating func reportLegacy(
        _ advertisement: AdvertisingState, _ address: DeviceAddress, isResponse: Bool, rssi: Int8, at time: Instant
    ) {
        guard wants(.advertisingReport), hasRoomForData else { return }
        let type = isResponse ? LEAdvertisingReport.EventType.scanResponse : advertisement.legacyEventType
        let entry = DuplicateFilter.Entry(address: address, eventType: UInt16(type.rawValue))
        guard settings.scanner.admits(entry, at: time) else { return }
        let data = advertisement.payload(isResponse: isResponse)
        send(LEAdvertisingReport(eventType: type, address: address, data: data.span, rssi: rssi))
    }
}

extension AdvertisingState {
    fileprivate func payload(isResponse: Bool) -> [UInt8] {
        if isResponse { return scanResponseData }
        // Directed legacy PDUs carry no data.
        return isLegacy && isDirected ? [] : data
    }

    /// The PDU type in a legacy report.
    fileprivate var legacyEventType: LEAdvertisingReport.EventType {
        if isDirected { return .connectableDirected }
        if isConnectable { return .connectableUndirected }
        return isScannable ? .scannableUndirected : .nonConnectableUndirected
    }

    /// The event type in an extended report.
    fileprivate func extendedEventType(isResponse: Bool) -> LEExtendedAdvertisingReport.EventType {
        var type: LEExtendedAdvertisingReport.EventType = []
        if isConnectable { type.insert(.connectable) }
        if isScannable { type.insert(.scannable) }
        if isDirected { type.insert(.directed) }
        if isLegacy { type.insert(.legacy) }
        if isResponse { type.insert(.scanResponse) }
        return type
    }
}
