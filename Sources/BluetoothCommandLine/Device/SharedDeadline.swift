import BluetoothLE
import Synchronization

/// The time limit for an operation with an adapter, even if the adapter must be opened twice for it.
final class SharedDeadline: Sendable {
    private let timeout: Seconds
    private let begun = Mutex<Attempts?>(nil)

    init(_ timeout: Seconds) { self.timeout = timeout }

    /// The attempts. Their time limit starts at the first call, when the adapter has been opened.
    func begin() -> Attempts {
        begun.withLock { begun in
            let attempts = begun ?? Attempts(within: timeout)
            begun = attempts
            return attempts
        }
    }

    /// Runs `body`, and once more if the controller still refuses a command at the end. A damaged response may have
    /// left the host with a wrong view of the controller's state, and opening the adapter resets the controller.
    ///
    /// - Parameter body: opens the adapter within the given time. The second time, this is the remaining time.
    func run<Value>(_ body: (_ opening: Attempts) async throws -> Value) async throws -> Value {
        let opening = Attempts(within: timeout)
        do {
            return try await body(opening)
        } catch let error as BluetoothError {
            let rest = begun.withLock { $0 } ?? opening
            guard error.code == .refusedByController, rest.left > .zero else { throw error }
            try Task.checkCancellation()
            say("\(error); trying again after a reset")
            return try await body(rest)
        }
    }
}
