import BluetoothGAP
import BluetoothLE

/// A scan's record of one device.
struct ScannedDevice {
    let peer: PeerID
    /// Its advertising sets, in the order in which they were seen. Legacy advertising, which has no set ID, counts as
    /// one.
    private(set) var sets: [ScannedSet]
    private(set) var lastSeen: Instant
    /// The averaged signal, and the address at the last measurement. Nil if none of its matching sets was measured.
    private var signal: (average: ProximityAverage, address: DeviceAddress)?

    init(_ sighting: Sighting, _ reader: LookReader) {
        peer = sighting.peer
        sets = [ScannedSet(sighting, reader)]
        lastSeen = sighting.lastSeen
    }

    /// The index of a set.
    func index(of sid: UInt8?) -> Int? { sets.firstIndex { $0.sighting.details.sid == sid } }

    /// Adds a set, and returns its index.
    mutating func add(_ sighting: Sighting, _ reader: LookReader) -> Int {
        sets.append(ScannedSet(sighting, reader))
        lastSeen = sighting.lastSeen
        return sets.count - 1
    }

    /// Adds another sighting of a set. Returns whether its data has changed.
    mutating func update(_ set: Int, _ sighting: Sighting, _ reader: LookReader) -> Bool {
        lastSeen = sighting.lastSeen
        return sets[set].update(sighting, reader)
    }

    /// Adds the signal of a set's last sighting to the average, if the set matches.
    ///
    /// - Parameter order: a number greater than those of earlier measurements of other devices.
    mutating func measure(_ set: Int, order: UInt64, _ configuration: ProximityEstimator.Configuration) {
        guard sets[set].isMatch, let rssi = sets[set].sighting.rssi else { return }
        let sighting = sets[set].sighting
        var average = signal?.average ?? ProximityAverage(order: order)
        average.record(rssi, txPowerLevel: sighting.txPowerLevel, at: sighting.lastSeen, configuration)
        signal = (average, sighting.address)
    }

    /// The proximity of the device, with the number that breaks ties.
    func estimate(
        _ configuration: ProximityEstimator.Configuration
    ) -> (order: UInt64, estimate: ProximityEstimator.Estimate)? {
        signal.map { ($0.average.order, $0.average.estimate(of: peer, configuration)) }
    }

    /// The address at the last measurement of the signal.
    var measuredAddress: DeviceAddress { signal?.address ?? peer.firstAddress }

    mutating func text(of set: Int, _ make: (inout ScannedSet) -> [UInt8]) -> [UInt8] { make(&sets[set]) }
}

/// The proximity of a device, and the address that it used at the last measurement.
struct NearDevice {
    let address: DeviceAddress
    let estimate: ProximityEstimator.Estimate
}

/// One advertising set of a device, as shown by a scan.
struct ScannedSet {
    private(set) var sighting: Sighting
    private(set) var signal = SignalHistory()
    /// The contents of its data.
    private(set) var look: DeviceLook
    /// Whether it belongs to one of the services that the scan is for.
    private(set) var isMatch: Bool
    /// The parts of its lines that change only with its data.
    private var cached: (json: [UInt8]?, line: [UInt8]?)

    init(_ sighting: Sighting, _ reader: LookReader) {
        self.sighting = sighting
        look = reader.look(at: sighting)
        isMatch = reader.matches(look)
        signal.record(sighting.rssi, at: sighting.lastSeen)
    }

    /// Adds another sighting. Returns whether its data has changed.
    mutating func update(_ new: Sighting, _ reader: LookReader) -> Bool {
        let isChanged =
            sighting.address != new.address || sighting.details != new.details || sighting.eventType != new.eventType
            || sighting.advertisingData != new.advertisingData || sighting.scanResponseData != new.scanResponseData
        sighting = new
        signal.record(new.rssi, at: new.lastSeen)
        guard isChanged else { return false }
        look = reader.look(at: new)
        isMatch = reader.matches(look)
        cached = (nil, nil)
        return true
    }

    /// The part of its JSON that changes only with its data. It is made by `make` once after each change.
    mutating func cachedJSON(_ make: (ScannedSet) -> [UInt8]) -> [UInt8] {
        if let json = cached.json { return json }
        let json = make(self)
        cached.json = json
        return json
    }

    /// Like `cachedJSON`, for the line of text.
    mutating func cachedLine(_ make: (ScannedSet) -> [UInt8]) -> [UInt8] {
        if let line = cached.line { return line }
        let line = make(self)
        cached.line = line
        return line
    }
}
