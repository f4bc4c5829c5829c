/// Carries out `body`, and cancels it when `duration` has passed.
///
/// Every call of this module ends when its task is cancelled, so any of them, or any number of them in a row, can be given a
/// deadline this way.
///
/// - Throws: `.timedOut` where the time was not enough, else what `body` throws.
public func withTimeout<Value: Sendable>(
    _ duration: Duration, _ body: @escaping @Sendable () async throws(BluetoothError) -> Value
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
            try? await Task.sleep(for: duration)
            return nil
        }
        let first = await group.next() ?? nil
        group.cancelAll()
        if let first { return first }
        // The body may have come to its end in the same moment; a result in hand is not thrown away.
        if case .success(let value)?? = await group.next() { return Result<Value, BluetoothError>.success(value) }
        return .failure(Task.isCancelled ? .cancelled : .timedOut)
    }
    return try outcome.get()
}
