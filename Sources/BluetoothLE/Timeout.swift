import BluetoothAdapter

/// The clock that this module uses for time limits. Defaults to the system's continuous clock. A task may override it:
///
///     await TimeLimits.$clock.withValue(world.clock) { … }   // in virtual time
///
/// A clock that is not the system's must free a sleep that is cancelled, as virtual clocks do.
///
/// The time limits of a host, such as the timeout of `connect`, always use the time of the adapter.
public enum TimeLimits {
    /// The clock of the current task. Child tasks inherit it.
    @TaskLocal public static var clock: any Clock<Duration> = ContinuousClock()
}

/// Measures the time since its creation.
struct Stopwatch: Sendable {
    /// The time that has passed.
    let elapsed: @Sendable () -> Duration
    /// Waits until this much time has passed since the beginning.
    let sleep: @Sendable (_ untilElapsed: Duration) async throws -> Void

    /// Starts the stopwatch with the clock of this task.
    init() { self.init(TimeLimits.clock) }

    private init(_ clock: some Clock<Duration>) {
        // A sleep on a system clock stays in memory until its deadline, even if it is cancelled.
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

/// Runs `body`, and cancels it when `duration` has passed.
///
/// Every call of this module ends when its task is cancelled, so this function gives a deadline to any of them, or to
/// several in a row. A deadline that was not needed leaves nothing in memory.
///
/// - Throws: `.timedOut` if the time was not sufficient, otherwise the error of `body`.
public func withTimeout<Value: Sendable>(
    _ duration: Duration, _ body: @escaping @Sendable () async throws(BluetoothError) -> Value
) async throws(BluetoothError) -> Value {
    let stopwatch = Stopwatch()
    guard let value = try await race(body, against: { try? await stopwatch.sleep(duration) }) else { throw .timedOut }
    return value
}

/// Runs `body`, and cancels it when `limit` returns.
///
/// - Returns: nil if `limit` returned first.
/// - Throws: `.cancelled` if this task was cancelled first, otherwise the error of `body`.
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
        // The body may have ended at the same moment. Its result is then kept.
        if case .success(let value)?? = await group.next() { return Result<Value, BluetoothError>.success(value) }
        return Task.isCancelled ? .failure(.cancelled) : nil
    }
    return try outcome?.get()
}
