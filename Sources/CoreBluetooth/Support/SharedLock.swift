import Synchronization

/// A lock for the state of several objects. Each value passes several locks, and an `NSLock` costs five times as much.
final class SharedLock: Sendable {
    private let mutex = Mutex(())

    func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        try mutex.withLock { _ in try body() }
    }
}
