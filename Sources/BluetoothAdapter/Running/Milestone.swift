import Synchronization

/// An event that happens once, and the closures that wait for it. Safe to use from any thread.
final class Milestone: Sendable {
    private enum State: Sendable {
        case awaited([@Sendable () -> Void])
        case reached
    }

    private let state = Mutex(State.awaited([]))

    var isReached: Bool {
        state.withLock { if case .reached = $0 { true } else { false } }
    }

    /// Calls `body` once the milestone is reached: immediately, or later on the thread that reaches it.
    func whenReached(_ body: @escaping @Sendable () -> Void) {
        let isReached = state.withLock { state in
            guard case .awaited(let waiting) = state else { return true }
            state = .awaited(waiting + [body])
            return false
        }
        if isReached { body() }
    }

    /// Marks the milestone as reached. Later calls have no effect.
    func reach() {
        let waiting = state.withLock { state in
            defer { state = .reached }
            return if case .awaited(let waiting) = state { waiting } else { [] as [@Sendable () -> Void] }
        }
        for body in waiting { body() }
    }
}
