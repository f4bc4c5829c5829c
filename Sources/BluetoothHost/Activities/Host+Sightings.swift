import BluetoothBase
import BluetoothGAP
import BluetoothHCI

/// Advertising reports from the controller.
extension Host {
    /// Handles one `LE Advertising Report` event (Vol 4, Part E, 7.7.65.2), which may hold several reports.
    mutating func receive(_ reports: consuming LEAdvertisingReports, at now: Instant) {
        // No one needs reports that were in transit when scanning stopped.
        guard scanner.isListening else { return }
        scanner.reportReceived(at: now)
        // Most events hold a single report. The count avoids decoding past the last one.
        while reports.count > 0, let report = reports.next() {
            guard let type = AdvertisingEventType(legacyEventType: report.eventType.rawValue) else { continue }
            received(type, report.address, report.rssi, report.data, at: now)
        }
    }

    /// Handles one `LE Extended Advertising Report` event (Vol 4, Part E, 7.7.65.13). Bumble's controllers use it even
    /// for scans that were started with the legacy commands.
    mutating func receive(_ reports: consuming LEExtendedAdvertisingReports, at now: Instant) {
        guard scanner.isListening else { return }
        scanner.reportReceived(at: now)
        while let report = reports.next() {
            let header = AdvertisingReassembly.Header(report)
            let status = AdvertisingReassembly.Status(report.eventType.dataStatus)
            if status == .complete, scanner.reassembly.isEmpty {
                // The usual case.
                received(header, report.data, at: now)
            } else if report.eventType.contains(.legacy) {
                // Legacy PDUs have no fragments.
                if status == .complete { received(header, report.data, at: now) }
            } else {
                for whole in scanner.receive(report.data, status, header, at: now) {
                    received(whole.header, whole.data.span, at: now)
                }
            }
        }
    }

    private mutating func received(
        _ header: AdvertisingReassembly.Header, _ data: Span<UInt8>, at now: Instant
    ) {
        let address =
            header.address ?? AdvertisingReport.anonymousAddress(data, sid: header.details.sid ?? 0xFF)
        received(header.eventType, address, header.rssi, data, header.txPowerLevel, header.details, at: now)
    }

    @inline(__always)
    private mutating func received(
        _ type: AdvertisingEventType, _ address: DeviceAddress, _ rssi: Int8, _ data: Span<UInt8>,
        _ txPowerLevel: Int8 = 127, _ details: AdvertisingDetails = .legacy, at now: Instant
    ) {
        let peer: PeerID
        if details.isAnonymous {
            peer = PeerID(address)
        } else if peers.resolver.mayResolve(address) || !unresolved.isEmpty {
            guard let known = resolvedPeer(at: address) else {
                return hold(
                    UnresolvedReports.Report(
                        type: type, address: address, rssi: rssi, txPowerLevel: txPowerLevel, details: details),
                    data, at: now)
            }
            peer = known
        } else {
            peer = peers.lastingPeer(of: PeerID(address))
        }
        report(type, address, of: peer, rssi, data, txPowerLevel, details, at: now)
    }

    /// The peer that uses an address; nil if reports of the address have to wait for its resolution. Even after the
    /// last bond was removed, earlier reports may still be waiting.
    // Inlined, it would copy the tables for every report.
    @inline(never)
    private mutating func resolvedPeer(at address: DeviceAddress) -> PeerID? {
        if unresolved.contains(address) { return nil }
        return peers.resolver.mayResolve(address) ? peers.recall(address) : peers.lastingPeer(of: PeerID(address))
    }

    @inline(__always)
    private mutating func report(
        _ type: AdvertisingEventType, _ address: DeviceAddress, of peer: PeerID, _ rssi: Int8, _ data: Span<UInt8>,
        _ txPowerLevel: Int8, _ details: AdvertisingDetails, at now: Instant
    ) {
        if scanner.isSearching {
            if type.contains(.connectable) { searched(peer, at: address, at: now) }
            guard scanner.isWanted else { return }
        }
        let data = events.store(data)
        events.append(
            .advertisement(
                Advertisement(
                    type: type, address: address, peer: peer, rssi: rssi, txPowerLevel: txPowerLevel, details: details,
                    data: data)))
    }

    // MARK: Reports that wait for resolution

    /// Keeps a report until its private address is resolved.
    private mutating func hold(_ report: UnresolvedReports.Report, _ data: Span<UInt8>, at now: Instant) {
        unresolved.append(report, data)
        if let count = unresolved.keysOfLastReport {
            _ = unresolved.beginSearch(at: now, isForced: true)
            resolve(keys: count, at: now)
        } else if unresolved.beginSearch(at: now) {
            // If a search is already running or scheduled, `fire` continues it.
            resolve(keys: UnresolvedReports.keysPerTurn, at: now)
        }
    }

    mutating func fireResolving(at now: Instant) {
        _ = unresolved.beginSearch(at: now)
        resolve(keys: UnresolvedReports.keysPerTurn, at: now)
    }

    private mutating func resolve(keys count: Int, at now: Instant) {
        let resolved = unresolved.advanceSearch(keys: count, in: &peers)
        for held in resolved.reports where scanner.isWanted || scanner.isSearching {
            let data = resolved.octets.span.extracting(held.data)
            report(held.type, held.address, of: held.peer, held.rssi, data, held.txPowerLevel, held.details, at: now)
        }
    }

    /// Drops the reports of a scan that was stopped, because no one needs them any more.
    mutating func dropUnresolvedReports() { unresolved.removeAll() }
}

extension AdvertisingReassembly.Header {
    fileprivate init(_ report: borrowing LEExtendedAdvertisingReport) {
        var details = AdvertisingDetails(
            // A report on an unknown, future PHY is still worth delivering.
            primaryPHY: AdvertisingPHY(rawValue: report.primaryPHY.rawValue) ?? .le1M,
            secondaryPHY: AdvertisingPHY(rawValue: report.secondaryPHY.rawValue), sid: report.advertisingSID,
            periodicInterval: report.periodicAdvertisingInterval.rawValue)
        details.isAnonymous = report.address == nil
        self.init(
            address: report.address,
            eventType: AdvertisingEventType(rawValue: UInt8(truncatingIfNeeded: report.eventType.rawValue & 0x1F)),
            rssi: report.rssi, txPowerLevel: report.transmitPower, details: details)
    }
}

extension AdvertisingReassembly.Status {
    fileprivate init(_ status: LEExtendedAdvertisingReport.DataStatus) {
        switch status {
        case .complete: self = .complete
        case .incompleteMoreToCome: self = .moreToCome
        case .incompleteTruncated, .reserved: self = .truncated
        }
    }
}
