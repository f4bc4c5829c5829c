import HCITransport
import Synchronization

/// An adapter's core behind a lock, so that only one thread at a time takes a turn.
///
/// Usually that is the adapter's own thread, and the lock is uncontended. Closing the adapter, or advancing a virtual
/// radio's time, happens on other threads.
final class GuardedCore: @unchecked Sendable {
    // Unchecked: `core` is used with `lock` held, or before this object is shared.
    var core: RunnerCore
    let clock: AdapterClock
    private let lock = Mutex(())
    /// The thread that holds the lock; 0 if none does.
    private let owner = Atomic<Int32>(0)

    init(_ core: RunnerCore) {
        self.core = core
        clock = core.clock
    }

    func withTurn<Value>(_ body: (inout RunnerCore) -> Value) -> Value {
        // `Mutex.withLock` requires a `sending` result, but the core's values cannot leave the lock's isolation.
        var value: Value?
        lock.withLock { _ in
            owner.store(CurrentThread.identifier, ordering: .relaxed)
            value = body(&core)
            owner.store(0, ordering: .relaxed)
        }
        guard let value else { preconditionFailure("the body runs exactly once") }
        return value
    }

    /// Whether the current thread is in a turn. If so, it must not start another.
    var isInTurn: Bool { owner.load(ordering: .relaxed) == CurrentThread.identifier }
}
