import Synchronization

/// Wakes tasks at instants of a clock. Cancelling a wait frees all that belongs to it at once.
///
/// A sleep by a clock of the system stays in memory until its deadline, even when its task is cancelled. So waits do not sleep: one
/// task sleeps for all of them, until the first deadline. Another one begins only for a deadline before that, and none is
/// cancelled.
final class Alarm<Time: Clock<Duration>>: Sendable {
    private struct Wait {
        let deadline: Time.Instant
        let number: UInt64
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        /// By deadline, and those of one deadline by number.
        var waits: [Wait] = []
        /// The deadlines of the sleeps under way, the first one last.
        var sleeps: [Time.Instant] = []
        var lastNumber: UInt64 = 0

        /// Where a wait is, or belongs.
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

        /// Until when another sleep must begin; nil where those under way are early enough.
        mutating func nextSleep() -> Time.Instant? {
            guard let deadline = waits.first?.deadline else { return nil }
            if let first = sleeps.last, first <= deadline { return nil }
            sleeps.append(deadline)
            return deadline
        }

        /// The waits whose time has come.
        mutating func takeDue(at now: Time.Instant) -> [Wait] {
            let count = waits.firstIndex { $0.deadline > now } ?? waits.count
            defer { waits.removeFirst(count) }
            return Array(waits[..<count])
        }
    }

    private let clock: Time
    private let state = Mutex(State())

    init(_ clock: Time) { self.clock = clock }

    /// How many waits there are, and how many tasks sleep for them.
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

    /// A sleep is over. Wakes whose time has come, and returns until when to sleep next.
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
