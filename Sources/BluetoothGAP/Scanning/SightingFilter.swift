import BluetoothBase

/// One scan's choice among the reports a controller makes: which devices it looks for, what it has seen of them, and which
/// it has reported.
///
///     var filter = SightingFilter(ScanFilter(services: ["180D"]))
///     if let slot = filter.receive(report, at: now) { show(filter[slot]) }
///
/// A device is reported once it meets every condition, which may be long after it was first received: with its scan
/// response, or when it comes nearer. It is reported once more when advertising and scan response have both been received,
/// and otherwise only where duplicates are wanted. A device that the table had to forget is new when it comes back.
public struct SightingFilter: Sendable {
    /// Which devices are reported.
    public let devices: ScanFilter
    /// Whether every report of such a device is reported, rather than only what is news.
    public let reportsDuplicates: Bool
    /// Every device received, whether it is looked for or not.
    public private(set) var sightings: SightingTable
    /// Whether the device in each slot of `sightings` has been reported. Slots are handed out in order, so a new
    /// one is the next element.
    private var isReported: [Bool] = []

    /// - Parameter capacity: how many devices are remembered at most. Beyond that the one not received for longest is
    ///   forgotten.
    public init(
        _ devices: ScanFilter = ScanFilter(), reportsDuplicates: Bool = false,
        capacity: Int = SightingTable.defaultCapacity
    ) {
        self.devices = devices
        self.reportsDuplicates = reportsDuplicates
        sightings = SightingTable(capacity: capacity)
    }

    /// The device in a slot that `receive` returned.
    public subscript(slot: SightingTable.Slot) -> Sighting { sightings[slot] }

    /// Takes in a report.
    ///
    /// - Returns: where its device is, if it is to be reported now; nil otherwise. The slot holds that device until the
    ///   next report is taken in.
    public mutating func receive(_ report: borrowing AdvertisingReport, at now: Instant) -> SightingTable.Slot? {
        let (slot, novelty) = sightings.receive(report, at: now)
        if slot == isReported.count { isReported.append(false) }
        if novelty == .discovered { isReported[slot] = false }
        guard reportsDuplicates || novelty.isNews || !isReported[slot], devices.matches(sightings[slot]) else {
            return nil
        }
        isReported[slot] = true
        return slot
    }

    /// Forgets every device: each is new when it is received again.
    public mutating func removeAll() {
        sightings.removeAll()
        isReported.removeAll()
    }
}
