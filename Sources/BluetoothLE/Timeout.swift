import BluetoothAdapter
import Synchronization

/// Carries out `body`, and cancels it when `duration` has passed.
///
/// Every call of this module ends when its task is cancelled, so any of them, or several in a row, can be given a
/// deadline this way.
///
/// - Throws: `.timedOut` if the time was not enough, otherwise what `body` throws.
public func withTimeout<Value: Sendable>(
    _ duration: Duration, _ body: @escaping @Sendable () async throws(BluetoothError) -> Value
) async throws(BluetoothError) -> Value {
    try await race(body) { try? await Task.sleep(for: duration) }
}

/// Carries out `body`, and cancels it when `duration` has passed since it last recorded progress.
///
/// - Throws: `.timedOut` if there was no progress for too long, otherwise what `body` throws.
func withIdleTimeout<Value: Sendable>(
    _ duration: Duration, _ body: @escaping @Sendable (Activity) async throws(BluetoothError) -> Value
) async throws(BluetoothError) -> Value {
    let activity = Activity()
    return try await race { () async throws(BluetoothError) in
        try await body(activity)
    } against: {
        // One sleep per `duration`, however much progress there is in it.
        while !Task.isCancelled, activity.last + duration > .now {
            try? await Task.sleep(until: activity.last + duration, clock: .continuous)
        }
    }
}

/// The time of the last progress.
final class Activity: Sendable {
    private let instant = Mutex(ContinuousClock.now)

    var last: ContinuousClock.Instant { instant.withLock { $0 } }

    func note() { instant.withLock { $0 = .now } }
}

/// Carries out `body`, and cancels it when `limit` returns.
private func race<Value: Sendable>(
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
