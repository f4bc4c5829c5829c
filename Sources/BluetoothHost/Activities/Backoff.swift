import BluetoothBase

/// The delay before a failed operation is retried: none the first time, then 100 ms, then twice as long after each
/// failure, up to a limit.
///
/// Without it, a controller or a peer that makes every attempt fail immediately would keep both sides fully busy.
package struct Backoff: Hashable, Sendable {
    /// The time of the next attempt; nil if it need not wait.
    package private(set) var deadline: Instant?
    private let limit: Duration
    private var failures = 0
    private var lastFailure = Instant.zero

    private static let shortest = Duration.milliseconds(100)

    /// - Parameter limit: the longest delay.
    package init(limit: Duration = .seconds(10)) { self.limit = limit }

    /// Records a failed attempt. Failures that happened long ago no longer count.
    package mutating func failed(at now: Instant) {
        if lastFailure.advanced(by: limit + limit) < now { failures = 0 }
        lastFailure = now
        failures = min(failures + 1, 30)
        guard failures > 1 else { return }
        deadline = now.advanced(by: min(Self.shortest * (1 << (failures - 2)), limit))
    }

    /// Records a successful attempt.
    package mutating func succeeded() {
        failures = 0
        deadline = nil
    }

    /// Clears a deadline that has passed.
    ///
    /// - Returns: whether the next attempt must still wait.
    package mutating func waits(at now: Instant) -> Bool {
        if let deadline, deadline <= now { self.deadline = nil }
        return deadline != nil
    }
}
