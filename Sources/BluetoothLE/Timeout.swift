import BluetoothAdapter

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
