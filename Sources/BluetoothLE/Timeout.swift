import BluetoothAdapter

/// The clock by which this module measures time limits: the system's, unless a task says otherwise.
///
///     await TimeLimits.$clock.withValue(world.clock) { … }   // in virtual time
///
/// Another clock than the system's must free a sleep that is cancelled, as virtual ones do.
///
/// The time limits that a host keeps, such as that of `connect`, go by the time of its adapter in any case.
public enum TimeLimits {
    @TaskLocal public static var clock: any Clock<Duration> = ContinuousClock()
}

/// Measures the time since it was made.
struct Stopwatch: Sendable {
    /// The time that has passed.
    let elapsed: @Sendable () -> Duration
    /// Waits until so much time has passed.
    let sleep: @Sendable (_ untilElapsed: Duration) async throws -> Void

    /// Begins, by the clock of this task.
    init() { self.init(TimeLimits.clock) }

    private init(_ clock: some Clock<Duration>) {
        // A sleep by a clock of the system stays in memory until its deadline, even when it is cancelled.
        switch clock {
        case let clock as ContinuousClock: self.init(clock, SystemAlarms.continuous)
        case let clock as SuspendingClock: self.init(clock, SystemAlarms.suspending)
        default:
            self.init(clock) { deadline in try await clock.sleep(until: deadline, tolerance: nil) }
        }
    }

    private init<Time: Clock<Duration>>(_ clock: Time, _ alarm: Alarm<Time>) {
        self.init(clock) { deadline in try await alarm.sleep(until: deadline) }
    }

    private init<Time: Clock<Duration>>(
        _ clock: Time, _ sleep: @escaping @Sendable (Time.Instant) async throws -> Void
    ) {
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        self.sleep = { try await sleep(start.advanced(by: $0)) }
    }
}

/// Carries out `body`, and cancels it when `duration` has passed.
///
/// Every call of this module ends when its task is cancelled, so any of them, or several in a row, can be given a
/// deadline this way. A deadline that was not needed leaves nothing behind.
///
/// - Throws: `.timedOut` if the time was not enough, otherwise what `body` throws.
public func withTimeout<Value: Sendable>(
    _ duration: Duration, _ body: @escaping @Sendable () async throws(BluetoothError) -> Value
) async throws(BluetoothError) -> Value {
    let stopwatch = Stopwatch()
    guard let value = try await race(body, against: { try? await stopwatch.sleep(duration) }) else { throw .timedOut }
    return value
}

/// Carries out `body`, and cancels it when `limit` returns.
///
/// - Returns: nil if `limit` was first.
/// - Throws: `.cancelled` if this task was cancelled first, otherwise what `body` throws.
package func race<Value: Sendable>(
    _ body: @escaping @Sendable () async throws(BluetoothError) -> Value,
    against limit: @escaping @Sendable () async -> Void
) async throws(BluetoothError) -> Value? {
    typealias Outcome = Result<Value, BluetoothError>?
    let outcome: Outcome = await withTaskGroup(of: Outcome.self) { group in
        group.addTask { () async -> Result<Value, BluetoothError>? in
            do throws(BluetoothError) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
        group.addTask {
            await limit()
            return nil
        }
        let first = await group.next() ?? nil
        group.cancelAll()
        if let first { return first }
        // The body may have ended at the same moment: then its result is kept.
        if case .success(let value)?? = await group.next() { return Result<Value, BluetoothError>.success(value) }
        return Task.isCancelled ? .failure(.cancelled) : nil
    }
    return try outcome?.get()
}
