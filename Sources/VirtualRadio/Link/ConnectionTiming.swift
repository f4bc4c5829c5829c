import BluetoothBase
import BluetoothHCI

/// The parameters that determine the connection events (Core 5.4, Vol 6, Part B, 4.5).
struct ConnectionTiming: Equatable, Sendable {
    var interval: ConnectionInterval
    /// The number of connection events the peripheral may skip.
    var latency: UInt16
    /// The time without a packet after which either end considers the link lost.
    var supervisionTimeout: SupervisionTimeout

    /// The interval in nanoseconds.
    var intervalNanoseconds: UInt64 { UInt64(interval.rawValue) * 1_250_000 }
    /// The supervision timeout in nanoseconds.
    var supervisionTimeoutNanoseconds: UInt64 { UInt64(supervisionTimeout.rawValue) * 10_000_000 }

    /// Whether the specification allows these values, alone and together (Vol 4, Part E, 7.8.12).
    var isValid: Bool {
        ConnectionInterval.allowed.contains(interval) && latency <= 499
            && (10...3200).contains(supervisionTimeout.rawValue)
            && supervisionTimeoutNanoseconds > UInt64(latency + 1) * intervalNanoseconds * 2
    }
}

extension LEConnectionParameters {
    /// The parameters a virtual controller chooses from a range. It has no other traffic, so it always uses the
    /// shortest interval.
    var chosen: ConnectionTiming {
        ConnectionTiming(interval: intervalMin, latency: maxLatency, supervisionTimeout: supervisionTimeout)
    }

    /// Whether every choice from the range would be allowed.
    var isValid: Bool {
        let longest = ConnectionTiming(
            interval: intervalMax, latency: maxLatency, supervisionTimeout: supervisionTimeout)
        return intervalMin <= intervalMax && chosen.isValid && longest.isValid && minCELength <= maxCELength
    }
}
