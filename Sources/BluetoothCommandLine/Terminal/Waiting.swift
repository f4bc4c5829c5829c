import BluetoothLE
import BluetoothPlatform

/// Carries out `body`. On a terminal it is shown meanwhile, on standard error, what is being waited for and for how long
/// already.
///
/// - Parameters:
///   - what: what is being waited for; stands behind "waiting for".
///   - limit: how long `body` may take, for the display only; nil if that is not known.
public func waiting<Value, Failure: Error>(
    for what: String, upTo limit: Seconds? = nil, _ body: () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    try await waiting(for: { what }, upTo: limit, body)
}

/// The same for something that changes, such as how much has been read.
public func waiting<Value, Failure: Error>(
    for what: @escaping @Sendable () -> String, upTo limit: Seconds? = nil, _ body: () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    guard isatty(STDERR_FILENO) == 1 else { return try await body() }
    let start = ContinuousClock.now
    let display = Task {
        // What is done at once is not shown.
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
