import BluetoothPlatform
import Synchronization

/// An adapter's core behind a lock, so that only one thread at a time takes a turn.
///
/// Usually that is the adapter's own thread, and the lock is uncontended. Closing the adapter, or advancing a virtual
/// radio's time, happens on other threads.
final class GuardedCore: Sendable {
    let clock: AdapterClock
    private let core: Mutex<RunnerCore>
    /// The thread that holds the lock; 0 if none does.
    private let owner = Atomic<Int32>(0)

    init(_ core: consuming sending RunnerCore) {
        clock = core.clock
        self.core = Mutex(core)
    }

    /// Calls `body` with the core, while no other thread uses it.
    ///
    /// - Parameter thread: the identifier of the current thread.
    @inline(__always)
    func withTurn<Value: Sendable>(
        on thread: Int32 = CurrentThread.identifier, _ body: @Sendable (inout RunnerCore) -> Value
    ) -> Value {
        core.withLock { core in
            owner.store(thread, ordering: .relaxed)
            defer { owner.store(0, ordering: .relaxed) }
            return body(&core)
        }
    }

    /// Whether the current thread is in a turn. If so, it must not start another.
    var isInTurn: Bool { owner.load(ordering: .relaxed) == CurrentThread.identifier }
}
