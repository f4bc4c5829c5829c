import BluetoothBase

/// How long to wait before something that came to nothing is tried again: the first time not at all, then 100 ms, and
/// each time twice as long up to a limit.
///
/// A controller or a peer that makes everything fail at once would otherwise keep both sides as busy as they can be.
package struct Backoff: Hashable, Sendable {
    /// When the next try is due; nil where it need not wait.
    package private(set) var deadline: Instant?
    private let limit: Duration
    private var failures = 0
    private var lastFailure = Instant.zero

    private static let shortest = Duration.milliseconds(100)

    /// - Parameter limit: the longest wait.
    package init(limit: Duration = .seconds(10)) { self.limit = limit }

    /// A try came to nothing. What failed long before no longer counts.
    package mutating func failed(at now: Instant) {
        if lastFailure.advanced(by: limit + limit) < now { failures = 0 }
        lastFailure = now
        failures = min(failures + 1, 30)
        guard failures > 1 else { return }
        deadline = now.advanced(by: min(Self.shortest * (1 << (failures - 2)), limit))
    }

    /// A try was successful.
    package mutating func succeeded() {
        failures = 0
        deadline = nil
    }

    /// Forgets a deadline that has passed.
    ///
    /// - Returns: whether the next try must still wait.
    package mutating func waits(at now: Instant) -> Bool {
        if let deadline, deadline <= now { self.deadline = nil }
        return deadline != nil
    }
}
