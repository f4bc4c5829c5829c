import BluetoothAdapter

/// The clock by which this module measures time limits: the system's, unless a task says otherwise.
///
///     await TimeLimits.$clock.withValue(world.clock) { … }   // in virtual time
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
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    }
}

/// Carries out `body`, and cancels it when `duration` has passed.
///
/// Every call of this module ends when its task is cancelled, so any of them, or several in a row, can be given a
/// deadline this way.
///
/// - Throws: `.timedOut` if the time was not enough, otherwise what `body` throws.
public func withTimeout<Value: Sendable>(
    _ duration: Duration, _ body: @escaping @Sendable () async throws(BluetoothError) -> Value
) async throws(BluetoothError) -> Value {
    let stopwatch = Stopwatch()
    return try await race(body) { try? await stopwatch.sleep(duration) }
}

/// Carries out `body`, and cancels it when `limit` returns.
///
/// - Throws: `.timedOut` if `limit` was first, otherwise what `body` throws.
func race<Value: Sendable>(
    _ body: @escaping @Sendable () async throws(BluetoothError) -> Value,
    against limit: @escaping @Sendable () async -> Void
) async throws(BluetoothError) -> Value {
    let outcome = await withTaskGroup(of: Result<Value, BluetoothError>?.self) { group in
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
        return .failure(Task.isCancelled ? .cancelled : .timedOut)
    }
    return try outcome.get()
}
