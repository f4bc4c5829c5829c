import BluetoothBase

/// The devices that a scan has received, by identity, with a separate entry for each advertising set. The number of
/// entries is bounded; a new one replaces the least recently seen one.
///
/// A report without new data costs a lookup and a comparison, without allocation, however many devices are known.
/// Memory is allocated for the devices received and not for the capacity: with legacy advertising, about 200 octets per
/// device.
public struct SightingTable: Sendable {
    /// The kind of news in a report.
    public enum Novelty: Sendable {
        /// The device was unknown.
        case discovered
        /// Of advertising data and scan response data, only one was known before. Now both are.
        case completed
        /// The device's data or the properties of its advertising have changed.
        case changed
        /// Only the signal strength and the time may have changed.
        case repeated

        /// Whether a scan without duplicates reports this. It reports a new device, and its scan response when it
        /// arrives, but not every change of a counter in the data.
        public var isNews: Bool { self == .discovered || self == .completed }
    }

    /// A position in the table. It belongs to one device until that device is replaced or removed.
    public typealias Slot = Int

    /// The default capacity of a table.
    public static let defaultCapacity = 65_536

    private var table: AddressTable<Sighting>

    /// Creates an empty table.
    ///
    /// - Parameter capacity: the maximum number of devices in the table, from 1 to 1,048,576.
    public init(capacity: Int = Self.defaultCapacity) {
        table = AddressTable(capacity: capacity)
    }

    /// The number of devices in the table.
    public var count: Int { table.count }

    /// Accesses the device in a slot that `receive` or `slot(of:)` returned.
    public subscript(slot: Slot) -> Sighting { table[slot] }

    /// Returns the slot of a device, or nil if the device is unknown.
    ///
    /// - Parameter sid: the SID of one of its advertising sets; nil for its legacy advertising.
    public func slot(of address: DeviceAddress, sid: UInt8? = nil) -> Slot? { slot(of: PeerID(address), sid: sid) }

    /// Returns the slot of a device, or nil if the device is unknown.
    ///
    /// - Parameter sid: the SID of one of its advertising sets; nil for its legacy advertising.
    public func slot(of peer: PeerID, sid: UInt8? = nil) -> Slot? {
        table.slot(of: peer.firstAddress, set: sid ?? 0xFF)
    }

    /// Accesses a device; nil if the device is unknown.
    ///
    /// - Parameter sid: the SID of one of its advertising sets; nil for its legacy advertising.
    public subscript(address: DeviceAddress, sid sid: UInt8? = nil) -> Sighting? {
        slot(of: address, sid: sid).map { table[$0] }
    }

    /// All devices, most recently seen first.
    public var sightings: [Sighting] { table.newestFirst.map { table[$0] } }

    /// Processes a report, and returns the slot of its device and the kind of news.
    public mutating func receive(
        _ report: borrowing AdvertisingReport, at now: Instant
    ) -> (slot: Slot, novelty: Novelty) {
        let key = report.peer.firstAddress
        let set = report.details.sidOctet
        if let slot = table.slot(of: key, set: set) {
            table.touch(slot)
            return (slot, table[slot].update(report, at: now))
        }
        return (table.insert(Sighting(report, at: now), for: key, set: set), .discovered)
    }

    /// The devices in place, by slot.
    var values: Span<Sighting> {
        @_lifetime(borrow self)
        get { table.values.span }
    }

    /// Returns whether the device in a slot meets the conditions of a filter. It is not copied for that.
    func matches(_ filter: ScanFilter, at slot: Slot) -> Bool { filter.matches(values[slot]) }

    /// Removes the devices last seen before `instant`.
    public mutating func removeAll(notSeenSince instant: Instant) {
        while let slot = table.oldest, table[slot].lastSeen < instant { table.remove(slot) }
    }

    /// Removes all devices. A new scan reports each of them again.
    public mutating func removeAll() {
        table.removeAll()
    }
}
