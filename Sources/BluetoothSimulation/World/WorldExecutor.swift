import BluetoothBase
import Synchronization

/// Runs the tasks of a world, one job at a time on the world's thread.
final class WorldExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var escapes: [String] = []
    }

    private let state = Mutex(State())
    private let hasJobs = Atomic(false)
    // Set once, before the first job.
    nonisolated(unsafe) weak var world: World?

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        _ = world?.checkThread("a task went on from another thread: it waits for something outside of the world")
        state.withLock { $0.jobs.append(job) }
        hasJobs.store(true, ordering: .relaxed)
    }

    /// Runs one of the ready jobs. Returns false if there is none.
    func runNext(_ order: inout SeededGenerator) -> Bool {
        guard hasJobs.load(ordering: .relaxed) else { return false }
        let job = state.withLock { state -> UnownedJob? in
            guard !state.jobs.isEmpty else {
                hasJobs.store(false, ordering: .relaxed)
                return nil
            }
            let pick = state.jobs.count == 1 ? 0 : Int(order.next() % UInt64(state.jobs.count))
            return state.jobs.remove(at: pick)
        }
        guard let job else { return false }
        job.runSynchronously(on: asUnownedTaskExecutor())
        return true
    }

    func noteEscape(_ text: String) {
        state.withLock { state in
            if state.escapes.count < World.maximumViolations { state.escapes.append(text) }
        }
    }

    func takeEscapes() -> [String] {
        state.withLock { state in
            defer { state.escapes = [] }
            return state.escapes
        }
    }
}
