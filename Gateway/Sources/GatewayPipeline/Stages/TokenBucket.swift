import BluetoothBase

/// A cap on how often something may happen: so many times a second on average, and so many at once.
public struct TokenBucket: Equatable, Sendable {
    private let interval: UInt64
    private let burst: UInt64
    /// When the bucket would be full, in nanoseconds: it says how many tokens are missing.
    private var full: UInt64 = 0

    /// - Parameters:
    ///   - rate: how often a second, more than 0.
    ///   - burst: how many at once, 1 at least.
    public init(rate: Double, burst: Int) {
        interval = rate > 0 ? UInt64(min(1e9 / rate, 1e18)) : UInt64(1e18)
        self.burst = UInt64(max(burst, 1))
    }

    /// Takes a token. False if there is none now.
    public mutating func take(at now: Instant) -> Bool {
        let earliest = max(full, now.nanoseconds)
        let (deficit, overflow) = interval.multipliedReportingOverflow(by: burst - 1)
        guard overflow || earliest - now.nanoseconds <= deficit else { return false }
        full = earliest &+ interval
        return true
    }
}
