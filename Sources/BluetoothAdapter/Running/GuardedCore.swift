import HCITransport
import Synchronization

/// An adapter's core behind a lock: one thread at a time takes a turn.
///
/// Mostly that is the adapter's own thread, and the lock is free; who closes the adapter, or lets the time of a radio pass,
/// does so on another one.
final class GuardedCore: @unchecked Sendable {
    // Unchecked: `core` is used with `lock` held, or before anybody else knows of this object.
    var core: RunnerCore
    let clock: AdapterClock
    private let lock = Mutex(())
    /// The thread that holds the lock; 0 where none does.
    private let owner = Atomic<Int32>(0)

    init(_ core: RunnerCore) {
        self.core = core
        clock = core.clock
    }

    func withTurn<Value>(_ body: (inout RunnerCore) -> Value) -> Value {
        // `Mutex` wants a value that may leave the lock, which those of the core need not.
        var value: Value?
        withoutActuallyEscaping(body) { body in
            lock.withLock { _ in
                owner.store(CurrentThread.identifier, ordering: .relaxed)
                value = body(&core)
                owner.store(0, ordering: .relaxed)
            }
        }
        guard let value else { preconditionFailure("the body runs exactly once") }
        return value
    }

    /// Whether this thread is in a turn, so that it must not begin another one.
    var isInTurn: Bool { owner.load(ordering: .relaxed) == CurrentThread.identifier }
}
