import BluetoothBase

/// A rate limit: an average number of events per second, and a maximum burst.
public struct TokenBucket: Equatable, Sendable {
    private let interval: UInt64
    private let burst: UInt64
    /// The time at which the bucket will be full, in nanoseconds, from which the number of missing tokens follows.
    private var full: UInt64 = 0

    /// - Parameters:
    ///   - rate: the number of events per second, more than 0.
    ///   - burst: the number of events at once, at least 1.
    public init(rate: Double, burst: Int) {
        interval = rate > 0 ? UInt64(min(1e9 / rate, 1e18)) : UInt64(1e18)
        self.burst = UInt64(max(burst, 1))
    }

    /// Takes a token. Returns false if none is available.
    public mutating func take(at now: Instant) -> Bool {
        let earliest = max(full, now.nanoseconds)
        let (deficit, overflow) = interval.multipliedReportingOverflow(by: burst - 1)
        guard overflow || earliest - now.nanoseconds <= deficit else { return false }
        full = earliest &+ interval
        return true
    }
}
