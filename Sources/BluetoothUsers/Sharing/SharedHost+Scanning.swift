import BluetoothBase
import BluetoothGAP
import BluetoothHost

/// One scan of the controller, shared by all users that scan.
extension SharedHost {
    mutating func scan(_ call: UserCall, _ filter: ScanFilter, _ parameters: ScanParameters, at now: Instant) {
        if let refusal { return end(call, .failure(refusal)) }
        var filter = filter
        filter.peers = filter.peers.map { host.lastingPeer(of: $0) }
        scans.append(call, filter, parameters)
        do throws(HostError) {
            try updateScanning(at: now)
        } catch {
            scans.removeLast()
            end(call, .failure(error))
        }
    }

    /// Two IDs turned out to belong to the same peer. Sightings have the lasting one from now on.
    mutating func renamePeersOfScans() {
        scans.renamePeers { [host] in host.lastingPeer(of: $0) }
    }

    /// Sets the controller's scan parameters to satisfy the most demanding scan.
    mutating func updateScanning(at now: Instant) throws(HostError) {
        guard var wanted = scans.all.first?.parameters else { return host.stopScanning(at: now) }
        for scan in scans.all {
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

    /// Passes a report to the scans. Their users get its sighting at the end of the turn, or before another event.
    mutating func received(_ advertisement: Advertisement, at now: Instant) {
        scans.receive(advertisement, host.events, at: now)
    }

    mutating func scanningFailed(_ error: HostError) {
        // Their users get what was received before the end.
        tellPending()
        for call in scans.remove(where: { _ in true }) {
            end(call, .failure(status == .lost ? .adapterRemoved : error))
        }
    }
}
