import BluetoothBase

/// The state of one scan: its filter, the devices it has received, and the devices it has already reported.
///
///     var filter = SightingFilter(ScanFilter(services: ["180D"]))
///     if let slot = filter.receive(report, at: now) { show(filter[slot]) }
///
/// A device is reported as soon as it meets every condition. That may be long after its first packet, for example with
/// its scan response or when it comes nearer. The device is reported once more when both its advertising data and its
/// scan response have been received, and otherwise only if `reportsDuplicates` is true. A device that was evicted from
/// the table is new when it is received again.
public struct SightingFilter: Sendable {
    /// The conditions that a device must meet to be reported.
    public var devices: ScanFilter { selection.devices }
    /// Whether every report of a matching device is passed on, rather than only new devices and their scan responses.
    public var reportsDuplicates: Bool { selection.reportsDuplicates }
    /// Every device received, whether or not it matches the filter.
    public private(set) var sightings: SightingTable
    private var selection: ScanSelection

    /// Creates a filter that has not received any device yet.
    ///
    /// - Parameter capacity: the maximum number of devices to store. A new device then replaces the least recently
    ///   received one.
    public init(
        _ devices: ScanFilter = ScanFilter(), reportsDuplicates: Bool = false,
        capacity: Int = SightingTable.defaultCapacity
    ) {
        selection = ScanSelection(devices, reportsDuplicates: reportsDuplicates)
        sightings = SightingTable(capacity: capacity)
    }

    /// Accesses the device in a slot that `receive` returned.
    public subscript(slot: SightingTable.Slot) -> Sighting { sightings[slot] }

    /// Processes a report.
    ///
    /// - Returns: the slot of its device if the device must be reported now; nil otherwise. The slot contains that
    ///   device until the next report is processed.
    public mutating func receive(_ report: borrowing AdvertisingReport, at now: Instant) -> SightingTable.Slot? {
        let (slot, novelty) = sightings.receive(report, at: now)
        return selection.receive(report, in: slot, novelty, of: sightings) == .skip ? nil : slot
    }

    /// Removes every device. Each one is new when it is received again.
    public mutating func removeAll() {
        sightings.removeAll()
        selection.removeAll()
    }
}
