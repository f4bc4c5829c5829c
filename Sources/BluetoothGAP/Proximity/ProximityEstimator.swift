import BluetoothBase

/// Which device is nearest: averages the signal strengths of a scan and orders devices by them.
///
/// The average of a device weighs each measurement by its age: a measurement one half-life old counts half as much as a
/// new one. The weight depends on time, not on how often a device advertises, so old measurements fade during silence
/// as well. Devices not seen for a while are forgotten, and their number is bounded.
public struct ProximityEstimator: Sendable {
    /// Parameters to tune.
    public struct Configuration: Equatable, Sendable {
        /// The age at which a measurement counts half.
        public var halfLife: Duration = .seconds(2)
        /// How long a device is remembered after its last measurement.
        public var staleAfter: Duration = .seconds(10)
        /// The greatest distance in metres at which a device is `.immediate`.
        public var immediateDistance = 0.5
        /// The greatest distance in metres at which a device is `.near`.
        public var nearDistance = 3.0
        /// By which factor a distance must lie beyond a boundary before the zone changes: at least 1.
        public var hysteresis = 1.25
        public var model = PathLossModel()

        public init() {}
    }

    /// What is known of a device.
    public struct Estimate: Equatable, Sendable {
        public var address: DeviceAddress
        /// The weighted average of the signal strength in dBm.
        public var rssi: Double
        /// The transmit power in dBm, nil if the device does not advertise it.
        public var txPowerLevel: Int8?
        /// How much of the signal is lost on the way, in dB; assuming a transmit power if the device advertises none.
        public var pathLoss: Double
        /// The distance in metres, nil if the transmit power is not advertised; see `PathLossModel` for its accuracy.
        public var distance: Double?
        public var zone: ProximityZone
        public var lastSeen: Instant
    }

    fileprivate struct Track: Sendable {
        let address: DeviceAddress
        /// A serial number that breaks ties between devices.
        let order: UInt64
        var weight = 0.0
        var weightedSum = 0.0
        var txPowerLevel: Int8?
        var zone = ProximityZone.unknown
        var lastSeen: Instant
    }

    public let configuration: Configuration
    private var table: AddressTable<Track>
    private var nextOrder: UInt64 = 0
    private let halfLifeNanoseconds: Double

    /// - Parameter capacity: how many devices to follow at most; the one not seen for longest is replaced by a new one.
    public init(_ configuration: Configuration = Configuration(), capacity: Int = 1024) {
        self.configuration = configuration
        halfLifeNanoseconds = Double(max(1, configuration.halfLife.nanoseconds))
        table = AddressTable(capacity: capacity)
    }

    /// How many devices are tracked.
    public var count: Int { table.count }

    // MARK: - Measurements

    /// Adds a measurement in dBm. nil and 127 mean that there is none, and are ignored.
    public mutating func record(
        _ address: DeviceAddress, rssi: Int8?, txPowerLevel: Int8? = nil, at now: Instant
    ) {
        guard let rssi, rssi != 127 else { return }
        let slot: Int
        if let known = table.slot(of: address) {
            slot = known
            table.touch(slot)
        } else {
            slot = table.insert(Track(address: address, order: nextOrder, lastSeen: now), for: address)
            nextOrder &+= 1
        }
        let age = table[slot].lastSeen < now ? now.nanoseconds - table[slot].lastSeen.nanoseconds : 0
        table[slot].record(rssi, txPowerLevel, fading: powerOfTwo(-Double(age) / halfLifeNanoseconds))
        table[slot].lastSeen = max(table[slot].lastSeen, now)
        table[slot].updateZone(configuration)
    }

    /// Adds the last packet of a sighting.
    public mutating func record(_ sighting: borrowing Sighting) {
        record(
            sighting.address, rssi: sighting.rssi, txPowerLevel: sighting.txPowerLevel, at: sighting.lastSeen)
    }

    // MARK: - Estimates

    /// What is known of a device; nil if it is not tracked.
    public func estimate(for address: DeviceAddress) -> Estimate? {
        table.slot(of: address).map { table[$0].estimate(configuration) }
    }

    /// All tracked devices, the one with the least path loss first; of equals, the one seen first.
    public var nearestFirst: [Estimate] {
        table.newestFirst.map { (order: table[$0].order, estimate: table[$0].estimate(configuration)) }
            .sorted { ($0.estimate.pathLoss, $0.order) < ($1.estimate.pathLoss, $1.order) }
            .map(\.estimate)
    }

    // MARK: - Time

    /// When the next device will be forgotten.
    public var nextDeadline: Instant? {
        table.oldest.map { table[$0].lastSeen.advanced(by: configuration.staleAfter) }
    }

    /// Forgets the devices that have not been seen for `staleAfter`.
    public mutating func fire(at now: Instant) {
        while let slot = table.oldest, table[slot].lastSeen.advanced(by: configuration.staleAfter) <= now {
            table.remove(slot)
        }
    }
}

// MARK: - One device

extension ProximityEstimator.Track {
    /// Adds a measurement to those before it, whose weight is now `fading` of what it was.
    fileprivate mutating func record(_ rssi: Int8, _ txPowerLevel: Int8?, fading: Double) {
        weight = weight * fading + 1
        weightedSum = weightedSum * fading + Double(rssi)
        if let txPowerLevel { self.txPowerLevel = txPowerLevel }
    }

    /// The average is a ratio, so letting both parts fade any further would not change it.
    private var average: Double { weight > 0 ? weightedSum / weight : 0 }

    private func pathLoss(_ model: PathLossModel) -> Double {
        Double(txPowerLevel ?? model.assumedTxPowerLevel) - average
    }

    /// Moves to the zone of the current distance, unless that lies within the hysteresis around the boundary.
    fileprivate mutating func updateZone(_ configuration: ProximityEstimator.Configuration) {
        let distance = configuration.model.distance(pathLoss: pathLoss(configuration.model))
        let margin = max(1, configuration.hysteresis)
        func isWithin(_ border: Double, _ zonesInside: [ProximityZone]) -> Bool {
            if zone == .unknown { return distance <= border }
            return distance <= (zonesInside.contains(zone) ? border * margin : border / margin)
        }
        if isWithin(configuration.immediateDistance, [.immediate]) {
            zone = .immediate
        } else if isWithin(configuration.nearDistance, [.immediate, .near]) {
            zone = .near
        } else {
            zone = .far
        }
    }

    fileprivate func estimate(_ configuration: ProximityEstimator.Configuration) -> ProximityEstimator.Estimate {
        let pathLoss = pathLoss(configuration.model)
        return ProximityEstimator.Estimate(
            address: address, rssi: average, txPowerLevel: txPowerLevel, pathLoss: pathLoss,
            distance: txPowerLevel.map { _ in configuration.model.distance(pathLoss: pathLoss) }, zone: zone,
            lastSeen: lastSeen)
    }
}
