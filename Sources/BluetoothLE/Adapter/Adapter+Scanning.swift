import BluetoothAdapter
import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import BluetoothHost

extension Adapter {
    /// Scans until the sequence is released.
    ///
    /// Each element is a device that matches the filter, with its advertisement and scan response merged. A device is
    /// reported again when its data changes or, with `parameters.reportsDuplicates`, at each advertising event. Several
    /// scans may run at once, each with its own filter.
    ///
    /// Up to 65,536 sightings wait for their consumer, which is several seconds of all that a controller can report.
    /// Beyond that the oldest are dropped, and `EventSequence.droppedCount` counts them.
    ///
    /// - Throws: `.invalidParameters`. If the controller refuses to scan, the sequence throws, since the refusal may
    ///   come later.
    public func scan(
        for filter: ScanFilter = ScanFilter(), parameters: ScanParameters = ScanParameters(reportsDuplicates: false)
    ) async throws(BluetoothError) -> EventSequence<Sighting> {
        try router.check()
        guard parameters.isValid else { throw .invalidParameters }
        let queue = AsyncQueue<Sighting>(
            capacity: 65_536, overflow: .dropOldest, onDrop: { [log = router.log] in log.sightingsDropped($0) })
        guard let token = router.calls.insert(.scan(queue)), router.post(.scan(filter, parameters), token: token)
        else { throw router.closure }
        return EventSequence(queue) { [weak router] in
            guard let router, case .scan = router.calls.take(token) else { return }
            router.post(.cancel, token: token)
        }
    }

    /// Scans until a device matches the filter.
    ///
    /// - Throws: what `scan` does; `.cancelled` when the search is cancelled, such as by `withTimeout`.
    public func firstSighting(
        for filter: ScanFilter, parameters: ScanParameters = ScanParameters(reportsDuplicates: false)
    ) async throws(BluetoothError) -> Sighting {
        for try await sighting in try await scan(for: filter, parameters: parameters) { return sighting }
        // A scan ends by throwing.
        throw .adapterClosed
    }
}
