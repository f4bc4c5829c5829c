import BluetoothBase

/// Averages the signal strengths of a scan and orders devices by path loss, to find the nearest device.
///
/// The average of a device weights each measurement by its age: a measurement that is one half-life old counts half as
/// much as a new one. The weight depends on time, not on how often a device advertises, so old measurements also decay
/// while the device is silent. Devices that have not been seen for a while are removed, and the number of devices is
/// bounded. A device that changes its private address remains the same device if it is bonded, because its `PeerID`
/// stays.
public struct ProximityEstimator: Sendable {
    /// The tunable parameters of the estimator.
    public struct Configuration: Equatable, Sendable {
        /// The age at which a measurement counts half.
        public var halfLife: Duration = .seconds(2)
        /// The time after its last measurement at which a device is removed.
        public var staleAfter: Duration = .seconds(10)
        /// The greatest distance in metres at which a device is `.immediate`.
        public var immediateDistance = 0.5
        /// The greatest distance in metres at which a device is `.near`.
        public var nearDistance = 3.0
        /// The factor by which a distance must exceed a boundary before the zone changes. Values below 1 are treated as
        /// 1.
        public var hysteresis = 1.25
        /// The model that converts path loss to distance.
        public var model = PathLossModel()

        /// Creates the default configuration.
        public init() {}
    }

    /// The estimated proximity of a device.
    public struct Estimate: Equatable, Sendable {
        /// The device, whatever address it uses now.
        public var peer: PeerID
        /// The weighted average of the signal strength in dBm.
        public var rssi: Double
        /// The transmit power in dBm; nil if the device does not advertise it.
        public var txPowerLevel: Int8?
        /// The path loss in dB. If the device does not advertise its transmit power, this uses the power that the model
        /// assumes.
        public var pathLoss: Double
        /// The distance in metres; nil if the device does not advertise its transmit power. See `PathLossModel` for its
        /// accuracy.
        public var distance: Double?
        /// The zone of the distance, with hysteresis at its boundaries.
        public var zone: ProximityZone
        /// The time of the last measurement.
        public var lastSeen: Instant
    }

    /// The parameters with which the estimator was created.
    public let configuration: Configuration
    private var table: AddressTable<ProximityAverage>
    private var nextOrder: UInt64 = 0

    /// Creates an estimator that has not measured any device yet.
    ///
    /// - Parameter capacity: the maximum number of devices to track. A new device replaces the least recently seen one.
    public init(_ configuration: Configuration = Configuration(), capacity: Int = 1024) {
        self.configuration = configuration
        table = AddressTable(capacity: capacity)
    }

    /// The number of tracked devices.
    public var count: Int { table.count }

    // MARK: - Measurements

    /// Adds a measurement in dBm. The values nil and 127 mean that the signal strength is not available, and are
    /// ignored.
    public mutating func record(
        _ peer: PeerID, rssi: Int8?, txPowerLevel: Int8? = nil, at now: Instant
    ) {
        guard let rssi, rssi != 127 else { return }
        let slot: Int
        if let known = table.slot(of: peer.firstAddress) {
            slot = known
            table.touch(slot)
        } else {
            slot = table.insert(ProximityAverage(order: nextOrder), for: peer.firstAddress)
            nextOrder &+= 1
        }
        table[slot].record(rssi, txPowerLevel: txPowerLevel, at: now, configuration)
    }

    /// Adds the signal strength of the last packet of a sighting.
    public mutating func record(_ sighting: borrowing Sighting) {
        record(
            sighting.peer, rssi: sighting.rssi, txPowerLevel: sighting.txPowerLevel, at: sighting.lastSeen)
    }

    // MARK: - Estimates

    /// Returns the estimate for a device, or nil if the device is not tracked.
    public func estimate(for peer: PeerID) -> Estimate? {
        table.slot(of: peer.firstAddress).map { table[$0].estimate(of: peer, configuration) }
    }

    /// The estimates of all tracked devices, in order of increasing path loss. Ties are ordered by when the device was
    /// first seen.
    public var nearestFirst: [Estimate] {
        Self.nearestFirst(
            table.newestFirst.map {
                (table[$0].order, table[$0].estimate(of: PeerID(table.address(of: $0)), configuration))
            })
    }

    /// Returns estimates in order of increasing path loss. Ties are ordered by serial number.
    package static func nearestFirst(_ estimates: [(order: UInt64, estimate: Estimate)]) -> [Estimate] {
        estimates.sorted { ($0.estimate.pathLoss, $0.order) < ($1.estimate.pathLoss, $1.order) }.map(\.estimate)
    }

    // MARK: - Time

    /// The time at which the next device will be removed.
    public var nextDeadline: Instant? {
        table.oldest.map { table[$0].lastSeen.advanced(by: configuration.staleAfter) }
    }

    /// Removes the devices that have not been seen for `staleAfter`.
    public mutating func fire(at now: Instant) {
        while let slot = table.oldest, table[slot].lastSeen.advanced(by: configuration.staleAfter) <= now {
            table.remove(slot)
        }
    }
}
