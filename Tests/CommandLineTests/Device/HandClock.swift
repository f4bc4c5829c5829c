import Synchronization

/// A clock that only moves when the test moves it.
final class HandClock: Clock {
    typealias Instant = ContinuousClock.Instant

    private struct Sleeper {
        var deadline: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = ContinuousClock.now
        var nextSleeper = 0
        var sleepers: [Int: Sleeper] = [:]
    }

    private let state = Mutex(State())
    /// How long each sleep lasts that begins.
    let sleeps: AsyncStream<Duration>
    private let began: AsyncStream<Duration>.Continuation

    init() { (sleeps, began) = AsyncStream.makeStream() }

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }

    /// Moves the clock, and ends the sleeps that are over then.
    func advance(by duration: Duration) {
        let over = state.withLock { state in
            state.now += duration
            let over = state.sleepers.filter { $0.value.deadline <= state.now }
            for number in over.keys { state.sleepers[number] = nil }
            return over.values.map(\.continuation)
        }
        for continuation in over { continuation.resume() }
    }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let number = state.withLock { state in
            defer { state.nextSleeper += 1 }
            return state.nextSleeper
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let now = state.withLock { state in
                    state.sleepers[number] = Sleeper(deadline: deadline, continuation: continuation)
                    return state.now
                }
                began.yield(now.duration(to: deadline))
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func cancel(_ number: Int) {
        let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number) }
        sleeper?.continuation.resume(throwing: CancellationError())
    }
}
