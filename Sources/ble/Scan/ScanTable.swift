import BluetoothHost
import BluetoothLE

/// The devices of a scan: one record for each device, with its advertising sets and its proximity.
///
/// The number of sets is bounded. When the table is full, it evicts the devices that were seen the longest time ago.
struct ScanTable {
    /// The default maximum number of sets.
    static let capacity = 16_384

    /// A place in the table, valid until the next call of `record` or `removeAll`.
    struct Slot: Equatable {
        fileprivate let device: Int
        fileprivate let set: Int
    }

    private let capacity: Int
    private let proximity = ProximityEstimator.Configuration()
    private var reader: LookReader
    private var devices: [ScannedDevice] = []
    /// The index of each device in `devices`.
    private var indices: [PeerID: Int] = [:]
    /// The number of sightings so far.
    private var sightingCount: UInt64 = 0
    /// The number of sets of all devices.
    private(set) var setCount = 0
    /// The number of sets that were evicted.
    private(set) var evictedCount = 0

    /// - Parameter services: sets match if they list one of these services, or have data of one. If empty, all sets
    ///   match.
    init(services: [BluetoothUUID] = [], keys: BTHomeKeys = BTHomeKeys(), capacity: Int = Self.capacity) {
        self.capacity = max(4, capacity)
        reader = LookReader(services: services, keys: keys)
    }

    /// Sets the bonds of the adapter. Bonded devices are shown with their identity, whatever address they use.
    mutating func know(_ bonds: [Bond]) { reader.know(bonds) }

    // MARK: - Sightings

    /// Adds a sighting.
    ///
    /// - Returns: the slot of its set, and whether the set is new or advertises something new.
    mutating func record(_ sighting: Sighting) -> (slot: Slot, isNews: Bool) {
        sightingCount &+= 1
        let slot: Slot, isNews: Bool
        if let known = self.slot(of: sighting) {
            slot = known
            isNews = devices[slot.device].update(slot.set, sighting, reader)
        } else {
            slot = add(sighting)
            isNews = true
        }
        devices[slot.device].measure(slot.set, order: sightingCount, proximity)
        return (slot, isNews)
    }

    private func slot(of sighting: Sighting) -> Slot? {
        guard let device = indices[sighting.peer], let set = devices[device].index(of: sighting.details.sid) else {
            return nil
        }
        return Slot(device: device, set: set)
    }

    /// Adds a set that is not in the table.
    private mutating func add(_ sighting: Sighting) -> Slot {
        if setCount >= capacity { evict() }
        setCount += 1
        if let device = indices[sighting.peer] {
            return Slot(device: device, set: devices[device].add(sighting, reader))
        }
        indices[sighting.peer] = devices.count
        devices.append(ScannedDevice(sighting, reader))
        return Slot(device: devices.count - 1, set: 0)
    }

    /// Evicts a quarter of the sets. Evicting many at a time keeps the cost of each new set low.
    private mutating func evict() {
        devices.sort { $0.lastSeen > $1.lastSeen }
        let target = setCount - max(1, setCount / 4)
        while setCount > target, let device = devices.popLast() {
            setCount -= device.sets.count
            evictedCount += device.sets.count
        }
        indices.removeAll(keepingCapacity: true)
        for (index, device) in devices.enumerated() { indices[device.peer] = index }
    }

    /// Forgets all devices.
    mutating func removeAll() {
        devices.removeAll()
        indices.removeAll()
        setCount = 0
    }

    // MARK: - Contents

    /// The set in a slot that `record` returned.
    subscript(slot: Slot) -> ScannedSet { devices[slot.device].sets[slot.set] }

    /// Makes the text of a set. The set may cache parts of it.
    mutating func text(of slot: Slot, _ make: (inout ScannedSet) -> [UInt8]) -> [UInt8] {
        devices[slot.device].text(of: slot.set, make)
    }

    /// The sets that satisfy a condition.
    func sets(where isIncluded: (ScannedSet) -> Bool = { _ in true }) -> [ScannedSet] {
        var sets: [ScannedSet] = []
        for device in devices {
            for set in device.sets where isIncluded(set) { sets.append(set) }
        }
        return sets
    }

    /// The proximity of each device with a matching set, nearest first. In a tie, the one measured first comes first.
    var nearestFirst: [NearDevice] {
        let addresses = Dictionary(
            devices.map { ($0.peer, $0.measuredAddress) }, uniquingKeysWith: { first, _ in first })
        return ProximityEstimator.nearestFirst(devices.compactMap { $0.estimate(proximity) }).map {
            NearDevice(address: addresses[$0.peer] ?? $0.peer.firstAddress, estimate: $0)
        }
    }
}
