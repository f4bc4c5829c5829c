import Synchronization

/// An instant that comes once, and work that waits for it. Any thread may use it.
final class Milestone: Sendable {
    private enum State: Sendable {
        case awaited([@Sendable () -> Void])
        case reached
    }

    private let state = Mutex(State.awaited([]))

    var isReached: Bool {
        state.withLock { if case .reached = $0 { true } else { false } }
    }

    /// Calls `body` when the instant has come: now, or on the thread that reaches it.
    func whenReached(_ body: @escaping @Sendable () -> Void) {
        let isReached = state.withLock { state in
            guard case .awaited(let waiting) = state else { return true }
            state = .awaited(waiting + [body])
            return false
        }
        if isReached { body() }
    }

    /// The instant has come. Later calls do nothing.
    func reach() {
        let waiting = state.withLock { state in
            defer { state = .reached }
            return if case .awaited(let waiting) = state { waiting } else { [] as [@Sendable () -> Void] }
        }
        for body in waiting { body() }
    }
}
