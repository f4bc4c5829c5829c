import BluetoothLE

/// The devices that a scan shows: a bounded number, of which those not seen for longest are forgotten.
struct ScanTable {
    /// How many devices there may be.
    static let capacity = 16_384

    private let capacity: Int
    private let services: [BluetoothUUID]
    private let keys: BTHomeKeys
    private(set) var devices: [ScannedDevice] = []
    private var slots: [Source: Int] = [:]
    /// How many devices were forgotten.
    private(set) var forgottenCount = 0

    /// A device, or one of its advertising sets.
    private struct Source: Hashable {
        let peer: PeerID
        let sid: UInt8?

        init(_ sighting: Sighting) {
            peer = sighting.peer
            sid = sighting.details.sid
        }
    }

    /// - Parameter services: devices match that list one of these, or have data of one; all do where there are none.
    init(services: [BluetoothUUID] = [], keys: BTHomeKeys = BTHomeKeys(), capacity: Int = Self.capacity) {
        self.capacity = max(4, capacity)
        self.services = services
        self.keys = keys
    }

    /// A device in a slot that `record` returned; it is that until the next call.
    subscript(slot: Int) -> ScannedDevice {
        get { devices[slot] }
        _modify { yield &devices[slot] }
    }

    /// Takes a sighting in.
    ///
    /// - Returns: where its device is, and whether that is new or advertises something new.
    mutating func record(_ sighting: Sighting) -> (slot: Int, isNews: Bool) {
        if let slot = slots[Source(sighting)] {
            guard devices[slot].update(sighting) else { return (slot, false) }
            look(at: slot)
            return (slot, true)
        }
        if devices.count >= capacity { forgetOldest() }
        let slot = devices.count
        slots[Source(sighting)] = slot
        devices.append(ScannedDevice(sighting))
        look(at: slot)
        return (slot, true)
    }

    private mutating func look(at slot: Int) {
        let look = DeviceLook(devices[slot].sighting, keys: keys)
        devices[slot].isMatch = services.isEmpty || !look.matchableServices.isDisjoint(with: services)
        devices[slot].look = look
    }

    /// Forgets a quarter of the devices: so many at a time that it costs little for each new one.
    private mutating func forgetOldest() {
        devices.sort { $0.sighting.lastSeen > $1.sighting.lastSeen }
        let count = max(1, devices.count / 4)
        devices.removeLast(count)
        forgottenCount += count
        slots.removeAll(keepingCapacity: true)
        for (slot, device) in devices.enumerated() { slots[Source(device.sighting)] = slot }
    }

    /// Forgets all devices.
    mutating func removeAll() {
        devices.removeAll()
        slots.removeAll()
    }
}

/// A device, as it is shown.
struct ScannedDevice {
    private(set) var sighting: Sighting
    private(set) var signal = SignalHistory()
    /// What its data says. Whoever changes it drops what was made of it.
    var look = DeviceLook() {
        didSet { (cachedJSON, cachedLine) = (nil, nil) }
    }
    var isMatch = true
    /// The parts of its lines that stay the same while its data does.
    var cachedJSON: [UInt8]?
    var cachedLine: [UInt8]?

    init(_ sighting: Sighting) {
        self.sighting = sighting
        signal.record(sighting.rssi, at: sighting.lastSeen)
    }

    /// Takes in another sighting of the device. Returns whether its data has changed.
    mutating func update(_ new: Sighting) -> Bool {
        let isChanged =
            sighting.address != new.address || sighting.details != new.details || sighting.eventType != new.eventType
            || sighting.advertisingData != new.advertisingData || sighting.scanResponseData != new.scanResponseData
        sighting = new
        signal.record(new.rssi, at: new.lastSeen)
        return isChanged
    }
}

/// How strong a device's signal was in the last seconds.
struct SignalHistory {
    /// How many seconds are kept.
    static let count = 16

    /// The strongest signal in each second, by its number modulo `count`; nil if there was none.
    private var strongest = InlineArray<16, Int8?>(repeating: nil)
    /// The number of the last second that has an element.
    private var second: UInt64 = 0
    /// The weighted average of the signal, in dBm; nil before the first one.
    private(set) var average: Double?

    mutating func record(_ rssi: Int8?, at now: Instant) {
        advance(to: now)
        guard let rssi else { return }
        let index = Int(second % UInt64(Self.count))
        strongest[index] = max(strongest[index] ?? rssi, rssi)
        average = average.map { 0.75 * $0 + 0.25 * Double(rssi) } ?? Double(rssi)
    }

    private mutating func advance(to now: Instant) {
        let current = now.nanoseconds / 1_000_000_000
        guard current > second else { return }
        for passed in (max(second &+ 1, current &- min(current, UInt64(Self.count - 1))))...current {
            strongest[Int(passed % UInt64(Self.count))] = nil
        }
        second = current
    }

    /// The seconds up to now, the oldest first.
    func seconds(at now: Instant) -> [Int8?] {
        var copy = self
        copy.advance(to: now)
        return (0..<Self.count).map { copy.strongest[Int((copy.second &+ 1 &+ UInt64($0)) % UInt64(Self.count))] }
    }
}
