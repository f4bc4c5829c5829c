import BluetoothAdapter
import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import BluetoothHost
import BluetoothUsers

extension Adapter {
    /// Scans until the sequence is released.
    ///
    /// Each element is a device that matches the filter, with its advertising data and scan response merged. A device
    /// is reported again when its data changes or, with `parameters.reportsDuplicates`, at each advertising event.
    /// Several scans may run at once, each with its own filter.
    ///
    /// Up to 65,536 sightings are buffered. A controller needs several seconds to report that many. Beyond that, the
    /// oldest are dropped, and `EventSequence.droppedCount` counts them.
    ///
    ///     let filter = ScanFilter(services: ["180D"])
    ///     for try await sighting in adapter.scan(for: filter) { … }
    ///
    /// The sequence throws if the adapter can't scan: `.invalidParameters`, `.refusedByController`, or the reason why
    /// the adapter is unavailable.
    public func scan(
        for filter: ScanFilter = ScanFilter(), parameters: ScanParameters = ScanParameters(reportsDuplicates: false)
    ) -> EventSequence<Sighting> {
        let queue = AsyncQueue<Sighting>(
            capacity: 65_536, overflow: .dropOldest, onDrop: { [log = router.log] in log.sightingsDropped($0) })
        let token: CallToken
        do throws(BluetoothError) {
            token = try startScanning(for: filter, parameters, queue)
        } catch {
            queue.finish(error)
            return EventSequence(queue) {}
        }
        return EventSequence(queue) { [weak router] in
            guard let router, case .scan = router.calls.take(token) else { return }
            router.post(.cancel, token: token)
        }
    }

    private func startScanning(
        for filter: ScanFilter, _ parameters: ScanParameters, _ queue: AsyncQueue<Sighting>
    ) throws(BluetoothError) -> CallToken {
        try router.check()
        guard parameters.isValid else { throw .invalidParameters }
        guard let token = router.calls.insert(.scan(queue)), router.post(.scan(filter, parameters), token: token)
        else { throw router.closure }
        return token
    }

    /// Scans until a device matches the filter, and returns its sighting.
    ///
    /// - Throws: the errors of `scan`, or `.cancelled` if the task is cancelled, for example by `withTimeout`.
    public func firstSighting(
        for filter: ScanFilter, parameters: ScanParameters = ScanParameters(reportsDuplicates: false)
    ) async throws(BluetoothError) -> Sighting {
        for try await sighting in scan(for: filter, parameters: parameters) { return sighting }
        // A scan ends only by throwing.
        throw .adapterClosed
    }
}
