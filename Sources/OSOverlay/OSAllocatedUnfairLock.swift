import Foundation

/// A lock that protects a state. All copies share the lock and the state.
public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
    // Unchecked: the mutex protects the state.
    private final class Storage {
        let mutex = NSLock()
        var state: State

        init(_ state: State) { self.state = state }
    }

    private let storage: Storage

    /// Creates a lock, initially unlocked, with a sendable state.
    public init(initialState: State) where State: Sendable { storage = Storage(initialState) }

    /// Creates a lock, initially unlocked, whose state need not be sendable.
    public init(uncheckedState: State) { storage = Storage(uncheckedState) }

    /// Creates a lock without a state, initially unlocked.
    public init() where State == Void { storage = Storage(()) }

    /// Calls a closure with the state while holding the lock.
    public func withLock<Result: Sendable>(
        _ body: @Sendable (inout State) throws -> Result
    ) rethrows -> Result {
        try withLockUnchecked(body)
    }

    /// Calls a closure with the state while holding the lock, without checking that captured and returned values are
    /// sendable.
    public func withLockUnchecked<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        storage.mutex.lock()
        defer { storage.mutex.unlock() }
        return try body(&storage.state)
    }

    /// Like `withLock`, but returns nil if the lock is already held.
    public func withLockIfAvailable<Result: Sendable>(
        _ body: @Sendable (inout State) throws -> Result
    ) rethrows -> Result? {
        try withLockIfAvailableUnchecked(body)
    }

    /// Like `withLockUnchecked`, but returns nil if the lock is already held.
    public func withLockIfAvailableUnchecked<Result>(
        _ body: (inout State) throws -> Result
    ) rethrows -> Result? {
        guard storage.mutex.try() else { return nil }
        defer { storage.mutex.unlock() }
        return try body(&storage.state)
    }
}

extension OSAllocatedUnfairLock where State == Void {
    /// Calls a closure while holding the lock.
    public func withLock<Result: Sendable>(_ body: @Sendable () throws -> Result) rethrows -> Result {
        try withLockUnchecked(body)
    }

    /// Calls a closure while holding the lock, without checking that captured and returned values are sendable.
    public func withLockUnchecked<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock()
        defer { unlock() }
        return try body()
    }

    /// Like `withLock`, but returns nil if the lock is already held.
    public func withLockIfAvailable<Result: Sendable>(
        _ body: @Sendable () throws -> Result
    ) rethrows -> Result? {
        guard lockIfAvailable() else { return nil }
        defer { unlock() }
        return try body()
    }

    /// Acquires the lock, and waits while another thread holds it. A thread that already holds it deadlocks.
    public func lock() { storage.mutex.lock() }

    /// Releases the lock. Must be called on the thread that acquired it.
    public func unlock() { storage.mutex.unlock() }

    /// Acquires the lock unless it is already held. Returns whether it was acquired.
    public func lockIfAvailable() -> Bool { storage.mutex.try() }
}
