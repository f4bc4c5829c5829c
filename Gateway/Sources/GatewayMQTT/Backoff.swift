/// The delay before the next attempt to reach a broker. It doubles with each attempt, up to a limit. A random part is
/// subtracted, so that a thousand gateways do not reconnect at the same moment.
public struct Backoff: Equatable, Sendable {
    private let first: Duration
    private let last: Duration
    private var next: Duration

    /// Creates a backoff whose delay grows from `first` to `last`. If `first` is longer than `last`, it is shortened.
    public init(first: Duration = .seconds(1), last: Duration = .seconds(60)) {
        self.first = min(first, last)
        self.last = last
        next = self.first
    }

    /// The delay after a failure.
    ///
    /// - Parameter random: a random number from 0 to 1.
    public mutating func wait(random: Double) -> Duration {
        defer { next = min(next * 2, last) }
        return next * (1 - 0.5 * max(0, min(1, random)))
    }

    /// Shortens the delay after a connection that lasted for a while. A connection that ended immediately does not
    /// shorten it: two gateways with the same name would disconnect each other forever.
    public mutating func connectionLasted(_ duration: Duration) {
        if duration >= last { next = first } else if duration >= .seconds(10) { next = min(next, first * 4) }
    }
}
