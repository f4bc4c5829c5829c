import BluetoothBase
import BluetoothGAP
import BluetoothHost

/// The scan of one user: its filter, and the devices it has seen.
struct ScanRecord: Sendable {
    let call: UserCall
    let parameters: ScanParameters
    var filter: SightingFilter

    /// Processes a report. Returns the slot of the device in `filter` if it must be reported now.
    mutating func receive(
        _ advertisement: Advertisement, _ events: borrowing HostEventQueue, at now: Instant
    ) -> SightingTable.Slot? {
        let report = AdvertisingReport(
            address: advertisement.address, peer: advertisement.peer, eventType: advertisement.type,
            rssi: advertisement.rssi, txPowerLevel: advertisement.txPowerLevel, details: advertisement.details,
            data: events.octets(of: advertisement.data))
        return filter.receive(report, at: now)
    }
}

/// One scan of the controller, shared by all users that scan.
extension SharedHost {
    mutating func scan(_ call: UserCall, _ filter: ScanFilter, _ parameters: ScanParameters, at now: Instant) {
        if let refusal { return end(call, .failure(refusal)) }
        var filter = filter
        filter.peers = filter.peers.map { host.lastingPeer(of: $0) }
        scans.append(
            ScanRecord(
                call: call, parameters: parameters,
                filter: SightingFilter(filter, reportsDuplicates: parameters.reportsDuplicates)))
        do throws(HostError) {
            try updateScanning(at: now)
        } catch {
            scans.removeLast()
            end(call, .failure(error))
        }
    }

    /// Two IDs turned out to belong to the same peer. Sightings have the lasting one from now on.
    mutating func renamePeersOfScans() {
        for index in scans.indices { scans[index].filter.renamePeers { [host] in host.lastingPeer(of: $0) } }
    }

    /// Sets the controller's scan parameters to satisfy the most demanding scan.
    mutating func updateScanning(at now: Instant) throws(HostError) {
        guard var wanted = scans.first?.parameters else { return host.stopScanning(at: now) }
        for scan in scans {
            wanted.isActive = wanted.isActive || scan.parameters.isActive
            wanted.phys.formUnion(scan.parameters.phys)
            if scan.parameters.window / scan.parameters.interval > wanted.window / wanted.interval {
                wanted.interval = scan.parameters.interval
                wanted.window = scan.parameters.window
            }
        }
        // Signal strength and presence are derived from repeated reports, so the controller must send them. Each scan
        // filters its own.
        wanted.reportsDuplicates = true
        try host.startScanning(wanted, at: now)
    }

    mutating func received(_ advertisement: Advertisement, at now: Instant) {
        for index in scans.indices {
            let seen = scans[index].receive(advertisement, host.events, at: now)
            guard let seen, let user = self.index(of: scans[index].call.user) else { continue }
            users[user].append(scans[index].filter[seen], of: scans[index].call.token)
        }
    }

    mutating func scanningFailed(_ error: HostError) {
        let failed = scans
        scans = []
        for scan in failed { end(scan.call, .failure(status == .lost ? .adapterRemoved : error)) }
    }
}
