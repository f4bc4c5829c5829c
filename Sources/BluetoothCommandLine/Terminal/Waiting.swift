import BluetoothLE
import BluetoothPlatform

/// Runs `body`. On a terminal, standard error shows what the program is waiting for, and for how long it has waited.
///
/// - Parameters:
///   - what: what the program is waiting for, worded to follow "waiting for".
///   - limit: the time limit of `body`, for the display only; nil if it is not known.
public func waiting<Value, Failure: Error>(
    for what: String, upTo limit: Seconds? = nil, _ body: () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    try await waiting(for: { what }, upTo: limit, body)
}

/// Runs `body`, and shows a text that changes while it runs, such as how much has been read.
public func waiting<Value, Failure: Error>(
    for what: @escaping @Sendable () -> String, upTo limit: Seconds? = nil, _ body: () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    guard isatty(STDERR_FILENO) == 1 else { return try await body() }
    let start = ContinuousClock.now
    let display = Task {
        // Operations that end immediately are not shown.
        var next = start + .milliseconds(500)
        while (try? await Task.sleep(until: next, clock: .continuous)) != nil {
            let seconds = Int((ContinuousClock.now - start).nanoseconds / 1_000_000_000)
            let time = limit.map { "\(seconds) of \($0) s" } ?? "\(seconds) s"
            sayInPlace("waiting for \(what()), \(time)")
            next += .milliseconds(500)
        }
    }
    let result: Result<Value, Failure>
    do throws(Failure) {
        result = .success(try await body())
    } catch {
        result = .failure(error)
    }
    display.cancel()
    await display.value
    eraseLineInPlace()
    return try result.get()
}
