import Dispatch
import Synchronization

@testable import BluetoothLE

/// Runs the jobs of an actor one by one, when the test says so.
final class StepExecutor: SerialExecutor {
    private let state = Mutex((jobs: [UnownedJob](), step: CheckedContinuation<UnownedJob, Never>?.none))

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let step = state.withLock { state in
            if state.step == nil { state.jobs.append(job) }
            return state.step.take()
        }
        step?.resume(returning: job)
    }

    /// Runs the next job, once there is one.
    func step() async {
        let job = await withCheckedContinuation { continuation in
            let job = state.withLock { state -> UnownedJob? in
                if !state.jobs.isEmpty { return state.jobs.removeFirst() }
                state.step = continuation
                return nil
            }
            if let job { continuation.resume(returning: job) }
        }
        job.runSynchronously(on: asUnownedSerialExecutor())
    }
}

/// Runs the jobs of a task at once, except while the test holds them back.
final class HoldingExecutor: TaskExecutor {
    /// The jobs held back; nil while none are.
    private let held = Mutex<[UnownedJob]?>(nil)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isHeld = held.withLock { held in
            held?.append(job)
            return held != nil
        }
        if !isHeld { run(job) }
    }

    func hold() { held.withLock { $0 = $0 ?? [] } }

    func release() {
        for job in held.withLock({ $0.take() }) ?? [] { run(job) }
    }

    private func run(_ job: UnownedJob) {
        DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// An actor that takes from a queue on a `StepExecutor`.
actor StepConsumer {
    let executor: StepExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ executor: StepExecutor) { self.executor = executor }

    func take<Element>(from queue: AsyncQueue<Element>) async -> Result<Element?, BluetoothError> {
        do throws(BluetoothError) {
            return .success(try await queue.next())
        } catch {
            return .failure(error)
        }
    }
}
