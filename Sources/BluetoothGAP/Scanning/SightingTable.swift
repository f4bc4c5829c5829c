import BluetoothBase

/// The devices a scan has seen, merged by who they are, and their advertising sets, each by itself: a bounded number of them, of which a new one replaces the one not
/// seen for longest.
///
/// A report that repeats what is known costs a look-up and a comparison, and no allocation, however many devices are
/// known. Memory is taken for the devices met, not for those there is room for: with legacy advertising some 200 octets
/// each.
public struct SightingTable: Sendable {
    /// What was new in a report.
    public enum Novelty: Sendable {
        /// The device was unknown.
        case discovered
        /// Its advertising data was known and its scan response not, or the other way round: now both are.
        case completed
        /// Its data, or the way it advertises, has changed.
        case changed
        /// Nothing but a signal strength and a time.
        case repeated

        /// Whether a scan without duplicates reports this: a new device, and its scan response once it arrives, but not
        /// every change of a counter in its data.
        public var isNews: Bool { self == .discovered || self == .completed }
    }

    /// A place in the table: it belongs to one device until that device is replaced or removed.
    public typealias Slot = Int

    /// How many devices a table holds where nothing else is asked for.
    public static let defaultCapacity = 65_536

    private var table: AddressTable<Sighting>

    /// - Parameter capacity: how many devices the table holds at most; at least 1, and at most 1,048,576.
    public init(capacity: Int = Self.defaultCapacity) {
        table = AddressTable(capacity: capacity)
    }

    /// How many devices the table holds.
    public var count: Int { table.count }

    /// The device in a slot that `receive` or `slot(of:)` returned.
    public subscript(slot: Slot) -> Sighting { table[slot] }

    /// Where a device is; nil if unknown.
    ///
    /// - Parameter sid: one of its advertising sets; nil for what it sends in legacy PDUs.
    public func slot(of address: DeviceAddress, sid: UInt8? = nil) -> Slot? { slot(of: PeerID(address), sid: sid) }

    /// Where a device is; nil if unknown.
    ///
    /// - Parameter sid: one of its advertising sets; nil for what it sends in legacy PDUs.
    public func slot(of peer: PeerID, sid: UInt8? = nil) -> Slot? {
        table.slot(of: peer.firstAddress, set: sid ?? 0xFF)
    }

    /// A device; nil if unknown.
    ///
    /// - Parameter sid: one of its advertising sets; nil for what it sends in legacy PDUs.
    public subscript(address: DeviceAddress, sid sid: UInt8? = nil) -> Sighting? {
        slot(of: address, sid: sid).map { table[$0] }
    }

    /// All the devices, the one seen last first.
    public var sightings: [Sighting] { table.newestFirst.map { table[$0] } }

    /// Adds a report.
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

    /// Removes the devices last seen before `instant`.
    public mutating func removeAll(notSeenSince instant: Instant) {
        while let slot = table.oldest, table[slot].lastSeen < instant { table.remove(slot) }
    }

    /// Removes all devices: a new scan reports each of them again.
    public mutating func removeAll() {
        table.removeAll()
    }
}
