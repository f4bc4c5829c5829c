import Dispatch

/// Runs work that blocks its thread, such as reading from a pipe, on a separate thread. If the task is cancelled, this
/// throws immediately and abandons the work, because the program is about to end.
///
/// - Throws: the failure of the work, or one without a message if the task is cancelled.
public func runInterruptibly<Value: Sendable>(
    _ work: @escaping @Sendable () throws(CommandFailure) -> Value
) async throws(CommandFailure) -> Value {
    let interruption = CommandFailure(.failure, nil)
    guard !Task.isCancelled else { throw interruption }
    let (results, continuation) = AsyncStream<Result<Value, CommandFailure>>.makeStream()
    DispatchQueue(label: "blocking work").async {
        do throws(CommandFailure) {
            continuation.yield(.success(try work()))
        } catch {
            continuation.yield(.failure(error))
        }
        continuation.finish()
    }
    // Cancelling the task also ends the stream.
    for await result in results where !Task.isCancelled { return try result.get() }
    throw interruption
}
