import BluetoothLE
import Synchronization

/// The time for something that is done with an adapter, also where the adapter has to be opened twice for it.
final class SharedDeadline: Sendable {
    private let timeout: Seconds
    private let begun = Mutex<Attempts?>(nil)

    init(_ timeout: Seconds) { self.timeout = timeout }

    /// The attempts, whose time begins when this is called first: when the adapter has been opened.
    func begin() -> Attempts {
        begun.withLock { begun in
            let attempts = begun ?? Attempts(within: timeout)
            begun = attempts
            return attempts
        }
    }

    /// Carries out `body`, and once more if the controller refuses a command in the end. A damaged answer may have left the host with a
    /// wrong idea of the controller's state, and opening the adapter resets it.
    ///
    /// - Parameter body: opens the adapter in the time it is given. The second time this is the time that is left.
    func run<Value>(_ body: (_ opening: Attempts) async throws -> Value) async throws -> Value {
        let opening = Attempts(within: timeout)
        do {
            return try await body(opening)
        } catch let error as BluetoothError {
            let rest = begun.withLock { $0 } ?? opening
            guard case .refusedByController = error, rest.left > .zero else { throw error }
            try Task.checkCancellation()
            say("\(error); trying again after a reset")
            return try await body(rest)
        }
    }
}
