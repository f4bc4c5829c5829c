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

    public let configuration: Configuration
    private var table: AddressTable<ProximityAverage>
    private var nextOrder: UInt64 = 0

    /// - Parameter capacity: how many devices to follow at most; the one not seen for longest is replaced by a new one.
    public init(_ configuration: Configuration = Configuration(), capacity: Int = 1024) {
        self.configuration = configuration
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
            slot = table.insert(ProximityAverage(order: nextOrder), for: address)
            nextOrder &+= 1
        }
        table[slot].record(rssi, txPowerLevel: txPowerLevel, at: now, configuration)
    }

    /// Adds the last packet of a sighting.
    public mutating func record(_ sighting: borrowing Sighting) {
        record(
            sighting.address, rssi: sighting.rssi, txPowerLevel: sighting.txPowerLevel, at: sighting.lastSeen)
    }

    // MARK: - Estimates

    /// What is known of a device; nil if it is not tracked.
    public func estimate(for address: DeviceAddress) -> Estimate? {
        table.slot(of: address).map { table[$0].estimate(of: address, configuration) }
    }

    /// All tracked devices, the one with the least path loss first; of equals, the one seen first.
    public var nearestFirst: [Estimate] {
        Self.nearestFirst(
            table.newestFirst.map { (table[$0].order, table[$0].estimate(of: table.address(of: $0), configuration)) })
    }

    /// Estimates in the order of their path loss, the least first; of equals, in the order of their serial numbers.
    package static func nearestFirst(_ estimates: [(order: UInt64, estimate: Estimate)]) -> [Estimate] {
        estimates.sorted { ($0.estimate.pathLoss, $0.order) < ($1.estimate.pathLoss, $1.order) }.map(\.estimate)
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
