import Foundation

/// A lock around a state, for all who hold a copy of it.
public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
    // Unchecked: the mutex protects the state.
    private final class Storage {
        let mutex = NSLock()
        var state: State

        init(_ state: State) { self.state = state }
    }

    private let storage: Storage

    public init(initialState: State) where State: Sendable { storage = Storage(initialState) }

    public init(uncheckedState: State) { storage = Storage(uncheckedState) }

    public init() where State == Void { storage = Storage(()) }

    /// Calls a closure with the state while holding the lock.
    public func withLock<Result: Sendable>(
        _ body: @Sendable (inout State) throws -> Result
    ) rethrows -> Result {
        try withLockUnchecked(body)
    }

    /// Calls a closure with the state while holding the lock. What goes in and out is not checked.
    public func withLockUnchecked<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        storage.mutex.lock()
        defer { storage.mutex.unlock() }
        return try body(&storage.state)
    }

    /// As `withLock`, unless the lock is held: then nil.
    public func withLockIfAvailable<Result: Sendable>(
        _ body: @Sendable (inout State) throws -> Result
    ) rethrows -> Result? {
        try withLockIfAvailableUnchecked(body)
    }

    public func withLockIfAvailableUnchecked<Result>(
        _ body: (inout State) throws -> Result
    ) rethrows -> Result? {
        guard storage.mutex.try() else { return nil }
        defer { storage.mutex.unlock() }
        return try body(&storage.state)
    }
}

extension OSAllocatedUnfairLock where State == Void {
    public func withLock<Result: Sendable>(_ body: @Sendable () throws -> Result) rethrows -> Result {
        try withLockUnchecked(body)
    }

    public func withLockUnchecked<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock()
        defer { unlock() }
        return try body()
    }

    public func withLockIfAvailable<Result: Sendable>(
        _ body: @Sendable () throws -> Result
    ) rethrows -> Result? {
        guard lockIfAvailable() else { return nil }
        defer { unlock() }
        return try body()
    }

    public func lock() { storage.mutex.lock() }

    public func unlock() { storage.mutex.unlock() }

    /// Takes the lock unless it is held. Returns whether it was taken.
    public func lockIfAvailable() -> Bool { storage.mutex.try() }
}
