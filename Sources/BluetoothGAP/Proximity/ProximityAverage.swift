import BluetoothBase

/// The averaged signal strength of one device.
///
/// `ProximityEstimator` keeps one for each device in a table. A program with its own table of devices can keep one in
/// each of its records instead.
package struct ProximityAverage: Sendable {
    /// A serial number that breaks ties between devices.
    package let order: UInt64
    /// The time of the last measurement; zero before the first one.
    package private(set) var lastSeen = Instant.zero
    private var weight = 0.0
    private var weightedSum = 0.0
    private var txPowerLevel: Int8?
    private var zone = ProximityZone.unknown

    package init(order: UInt64) { self.order = order }

    /// Adds a measurement in dBm. The weight of earlier measurements decays with their age.
    package mutating func record(
        _ rssi: Int8, txPowerLevel: Int8?, at now: Instant, _ configuration: ProximityEstimator.Configuration
    ) {
        let age = lastSeen < now ? now.nanoseconds - lastSeen.nanoseconds : 0
        let fading = powerOfTwo(-Double(age) / Double(max(1, configuration.halfLife.nanoseconds)))
        weight = weight * fading + 1
        weightedSum = weightedSum * fading + Double(rssi)
        if let txPowerLevel { self.txPowerLevel = txPowerLevel }
        lastSeen = max(lastSeen, now)
        updateZone(configuration)
    }

    /// Returns the estimate for the device.
    package func estimate(
        of peer: PeerID, _ configuration: ProximityEstimator.Configuration
    ) -> ProximityEstimator.Estimate {
        let pathLoss = pathLoss(configuration.model)
        return ProximityEstimator.Estimate(
            peer: peer, rssi: average, txPowerLevel: txPowerLevel, pathLoss: pathLoss,
            distance: txPowerLevel.map { _ in configuration.model.distance(pathLoss: pathLoss) }, zone: zone,
            lastSeen: lastSeen)
    }

    /// The average is a ratio, so decaying both parts up to the current time would not change it.
    private var average: Double { weight > 0 ? weightedSum / weight : 0 }

    private func pathLoss(_ model: PathLossModel) -> Double {
        Double(txPowerLevel ?? model.assumedTxPowerLevel) - average
    }

    /// Moves to the zone of the current distance, unless the distance is within the hysteresis of the boundary.
    private mutating func updateZone(_ configuration: ProximityEstimator.Configuration) {
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
}
