import Synchronization

/// Wakes tasks at instants of a clock. Cancelling a wait frees all of its memory immediately.
///
/// A sleep on a system clock stays in memory until its deadline, even if its task is cancelled. Waits therefore do not
/// sleep. One task sleeps for all of them, until the earliest deadline. Another sleep begins only for a deadline before
/// that, and no sleep is cancelled.
final class Alarm<Time: Clock<Duration>>: Sendable {
    private struct Wait {
        let deadline: Time.Instant
        let number: UInt64
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        /// Sorted by deadline, and by number among equal deadlines.
        var waits: [Wait] = []
        /// The deadlines of the sleeps in progress. The earliest one is last.
        var sleeps: [Time.Instant] = []
        var lastNumber: UInt64 = 0

        /// The index of a wait, or the index at which to insert it.
        func place(of deadline: Time.Instant, _ number: UInt64) -> Int {
            var range = waits.indices
            while !range.isEmpty {
                let middle = range.lowerBound + range.count / 2
                let other = waits[middle]
                if other.deadline < deadline || (other.deadline == deadline && other.number < number) {
                    range = middle + 1..<range.upperBound
                } else {
                    range = range.lowerBound..<middle
                }
            }
            return range.lowerBound
        }

        mutating func remove(_ deadline: Time.Instant, _ number: UInt64) -> Wait? {
            let place = place(of: deadline, number)
            guard place < waits.count, waits[place].number == number else { return nil }
            return waits.remove(at: place)
        }

        /// The deadline of the sleep that must begin now; nil if the sleeps in progress end early enough.
        mutating func nextSleep() -> Time.Instant? {
            guard let deadline = waits.first?.deadline else { return nil }
            if let first = sleeps.last, first <= deadline { return nil }
            sleeps.append(deadline)
            return deadline
        }

        /// Removes and returns the waits that are due.
        mutating func takeDue(at now: Time.Instant) -> [Wait] {
            let count = waits.firstIndex { $0.deadline > now } ?? waits.count
            defer { waits.removeFirst(count) }
            return Array(waits[..<count])
        }
    }

    private let clock: Time
    private let state = Mutex(State())

    init(_ clock: Time) { self.clock = clock }

    /// The number of waits, and the number of tasks that sleep for them.
    var counts: (waits: Int, sleeps: Int) { state.withLock { ($0.waits.count, $0.sleeps.count) } }

    /// Waits until an instant of the clock.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    func sleep(until deadline: Time.Instant) async throws {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let (isOver, sleep) = state.withLock { state -> (Bool, Time.Instant?) in
                    // The handler below may have run before the wait began.
                    guard !Task.isCancelled else { return (true, nil) }
                    let wait = Wait(deadline: deadline, number: number, continuation: continuation)
                    state.waits.insert(wait, at: state.place(of: deadline, number))
                    return (false, state.nextSleep())
                }
                if isOver { continuation.resume() }
                if let sleep { beginSleep(until: sleep) }
            }
        } onCancel: {
            state.withLock { $0.remove(deadline, number) }?.continuation.resume()
        }
        try Task.checkCancellation()
    }

    private func beginSleep(until first: Time.Instant) {
        Task.detached { [self] in
            var deadline = Time.Instant?.some(first)
            while let until = deadline {
                try? await clock.sleep(until: until, tolerance: nil)
                deadline = wake(after: until)
            }
        }
    }

    /// A sleep has ended. Wakes the waits that are due, and returns the deadline of the next sleep.
    private func wake(after deadline: Time.Instant) -> Time.Instant? {
        let (due, next) = state.withLock { state in
            state.sleeps.removeAll { $0 == deadline }
            return (state.takeDue(at: max(clock.now, deadline)), state.nextSleep())
        }
        for wait in due { wait.continuation.resume() }
        return next
    }
}

/// The alarms of the system's clocks, one for the whole program.
enum SystemAlarms {
    static let continuous = Alarm(ContinuousClock())
    static let suspending = Alarm(SuspendingClock())
}
