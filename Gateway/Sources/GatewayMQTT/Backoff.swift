/// How long to wait before the next attempt to reach a broker: twice as long each time, up to a limit, and less by a random
/// part, so that a thousand gateways do not come back at the same moment.
public struct Backoff: Equatable, Sendable {
    private let first: Duration
    private let last: Duration
    private var next: Duration

    public init(first: Duration = .seconds(1), last: Duration = .seconds(60)) {
        self.first = min(first, last)
        self.last = last
        next = self.first
    }

    /// The wait after a failure.
    ///
    /// - Parameter random: from 0 to 1.
    public mutating func wait(random: Double) -> Duration {
        defer { next = min(next * 2, last) }
        return next * (1 - 0.5 * max(0, min(1, random)))
    }

    /// A connection has ended that lasted so long. One that ended at once is no reason to hurry: two gateways with one name
    /// would throw each other out for ever.
    public mutating func connectionLasted(_ duration: Duration) {
        if duration >= last { next = first } else if duration >= .seconds(10) { next = min(next, first * 4) }
    }
}
