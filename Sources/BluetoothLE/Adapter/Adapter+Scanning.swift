import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import BluetoothHost

/// One `Adapter.scan`: what it looks for and has seen, and who is told of it.
struct ScanSession {
    let number: Int
    let parameters: ScanParameters
    let sightings: AsyncQueue<Sighting>
    private var filter: SightingFilter

    init(number: Int, filter: ScanFilter, parameters: ScanParameters, sightings: AsyncQueue<Sighting>) {
        self.number = number
        self.parameters = parameters
        self.sightings = sightings
        self.filter = SightingFilter(filter, reportsDuplicates: parameters.reportsDuplicates)
    }

    /// Takes a report in, and reports its device where that is called for.
    mutating func receive(_ report: borrowing AdvertisingReport, at now: Instant) {
        if let slot = filter.receive(report, at: now) { sightings.push(filter[slot]) }
    }
}

extension Adapter {
    /// Scans until the sequence is given up.
    ///
    /// Each element is a device that fits the filter, with its advertisement and scan response merged; the same device
    /// comes again when it has something new to say, or, where `parameters.reportsDuplicates`, with each advertising event.
    /// As many as 65,536 devices are remembered; beyond that the one not received for longest counts as new when it comes
    /// back. A consumer that is too slow misses the oldest sightings. Several scans may run at once, each with its own filter.
    ///
    /// - Throws: `.host(.controller)` where the controller refuses to scan; through the sequence, since it may do so later.
    public func scan(
        for filter: ScanFilter = ScanFilter(), parameters: ScanParameters = ScanParameters(reportsDuplicates: false)
    ) throws(BluetoothError) -> EventSequence<Sighting> {
        try checkOpen()
        let number = makeNumber()
        let queue = AsyncQueue<Sighting>(capacity: 256, overflow: .dropOldest)
        scans.append(ScanSession(number: number, filter: filter, parameters: parameters, sightings: queue))
        do throws(HostError) {
            try updateScanning()
        } catch {
            scans.removeLast()
            throw .host(error)
        }
        return EventSequence(queue) { [weak self] in
            Task { await self?.endScan(number) }
        }
    }

    /// Scans until a device fits the filter.
    ///
    /// - Throws: what `scan` does; `.cancelled` is how the search is given up, such as by `withTimeout`.
    public func firstSighting(
        for filter: ScanFilter, parameters: ScanParameters = ScanParameters(reportsDuplicates: false)
    ) async throws(BluetoothError) -> Sighting {
        for try await sighting in try scan(for: filter, parameters: parameters) { return sighting }
        // A scan ends by throwing.
        throw .adapterClosed
    }

    private func endScan(_ number: Int) {
        guard let index = scans.firstIndex(where: { $0.number == number }) else { return }
        scans.remove(at: index)
        // What was accepted for all of the scans is accepted for some of them.
        try? updateScanning()
    }

    /// Makes the controller scan as the most demanding session needs.
    private func updateScanning() throws(HostError) {
        guard var wanted = scans.first?.parameters else { return host.stopScanning(at: now) }
        for scan in scans {
            wanted.isActive = wanted.isActive || scan.parameters.isActive
            if scan.parameters.window / scan.parameters.interval > wanted.window / wanted.interval {
                wanted.interval = scan.parameters.interval
                wanted.window = scan.parameters.window
            }
        }
        // Strength and presence are read off repeated reports, so they are always asked for; each session drops its own.
        wanted.reportsDuplicates = true
        try host.startScanning(wanted, at: now)
    }

    func advertisementReceived(_ advertisement: Advertisement) {
        let now = now
        for index in scans.indices {
            let report = AdvertisingReport(
                address: advertisement.address, eventType: advertisement.type, rssi: advertisement.rssi,
                data: host.events.bytes(of: advertisement.data))
            scans[index].receive(report, at: now)
        }
    }

    func scanningFailed(_ error: HostError) {
        for scan in scans { scan.sightings.finish(.host(error)) }
        scans = []
    }
}
