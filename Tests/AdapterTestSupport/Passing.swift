import BluetoothBase
import Synchronization
import VirtualRadio

extension VirtualRadio {
    /// Lets time pass until `body` is done, where it does not pass by itself.
    ///
    /// - Throws: `NotDone` if `body` is not done in two hours of the radio's time, and `CancellationError` once the
    ///   time limit of the test has passed.
    package func passing<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard time == .manual else { return try await body() }
        let isDone = Atomic(false)
        async let value = {
            defer { isDone.store(true, ordering: .relaxed) }
            return try await body()
        }()
        let end = now.advanced(by: NotDone.limit)
        while !isDone.load(ordering: .relaxed) {
            try Task.checkCancellation()
            guard now < end else { throw NotDone() }
            await advance(by: .milliseconds(20))
        }
        return try await value
    }
}

/// What a test waits for has not happened in far more time than it takes.
package struct NotDone: Error, CustomStringConvertible {
    package static let limit = Duration.seconds(7200)

    package init() {}

    package var description: String { "not done in \(Self.limit) of the radio's time" }
}
