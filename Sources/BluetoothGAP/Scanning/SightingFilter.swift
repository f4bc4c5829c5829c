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
    public private(set) var devices: ScanFilter
    /// Whether every report of a matching device is passed on, rather than only new devices and their scan responses.
    public let reportsDuplicates: Bool
    /// Every device received, whether or not it matches the filter.
    public private(set) var sightings: SightingTable
    /// Whether the device in each slot of `sightings` has been reported. Slots are assigned in order, so a new slot is
    /// always the next element.
    private var isReported: [Bool] = []

    /// Creates a filter that has not received any device yet.
    ///
    /// - Parameter capacity: the maximum number of devices to store. A new device then replaces the least recently
    ///   received one.
    public init(
        _ devices: ScanFilter = ScanFilter(), reportsDuplicates: Bool = false,
        capacity: Int = SightingTable.defaultCapacity
    ) {
        self.devices = devices
        self.reportsDuplicates = reportsDuplicates
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
        if slot == isReported.count { isReported.append(false) }
        if novelty == .discovered { isReported[slot] = false }
        guard reportsDuplicates || novelty.isNews || !isReported[slot], sightings.matches(devices, at: slot) else {
            return nil
        }
        isReported[slot] = true
        return slot
    }

    /// Replaces the peers to report, after some of them turned out to be known by another ID.
    package mutating func renamePeers(_ lastingPeer: (PeerID) -> PeerID) {
        devices.peers = devices.peers.map(lastingPeer)
    }

    /// Removes every device. Each one is new when it is received again.
    public mutating func removeAll() {
        sightings.removeAll()
        isReported.removeAll()
    }
}
