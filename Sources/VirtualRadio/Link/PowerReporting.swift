import BluetoothHCI

/// The power and path loss reports that one end of a link sends to its host (Core 5.4, Vol 4, Part E, 7.8.119–7.8.121).
struct PowerReporting: Sendable {
    /// Whether changes of this end's transmit power, and of the other end's, are reported.
    var reportsLocal = false
    var reportsRemote = false
    /// The path loss zones, once the host has set them.
    var thresholds: LESetPathLossReportingParameters?
    var reportsPathLoss = false
    /// The zone that was reported last.
    var zone: PathLossZone?

    /// The zone of a path loss. The current zone changes only once the hysteresis is exceeded.
    func zone(of loss: Int) -> PathLossZone {
        guard let thresholds else { return .low }
        let low = Int(thresholds.lowThreshold), high = Int(thresholds.highThreshold)
        let lowMargin = Int(thresholds.lowHysteresis), highMargin = Int(thresholds.highHysteresis)
        let isHigh =
            zone == .high ? loss >= high - highMargin : zone == nil ? loss > high : loss > high + highMargin
        if isHigh { return .high }
        let isLow = zone == .low ? loss <= low + lowMargin : zone == nil ? loss < low : loss < low - lowMargin
        return isLow ? .low : .middle
    }
}

extension LESetPathLossReportingParameters {
    /// Whether the zones do not overlap (7.8.119).
    var isValid: Bool {
        let low = Int(lowThreshold), high = Int(highThreshold)
        return low <= high && low + Int(lowHysteresis) <= high - Int(highHysteresis) && Int(lowHysteresis) <= low
            && high + Int(highHysteresis) <= 0xFF
    }
}
