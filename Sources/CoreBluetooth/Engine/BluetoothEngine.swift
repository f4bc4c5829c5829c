import Dispatch

/// Where everything happens that is neither the application's nor the adapter's: one thing after the other, in the order
/// in which it was asked for.
///
/// An application calls from any thread and does not wait. Its calls, what the adapter tells, and the ends of what was
/// awaited all come here, and what is to be told leaves from here through the `Delivery` of the manager concerned.
@globalActor
actor BluetoothEngine {
    static let shared = BluetoothEngine()

    /// Strictly first in, first out, which the default executor is not: a result that is there before a notification is
    /// to be told before it.
    private final class Executor: SerialExecutor {
        private let queue = DispatchQueue(label: "CoreBluetooth")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }

    private let executor = Executor()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Has something done, after everything that was asked for before.
    nonisolated static func run(_ body: @escaping @Sendable @BluetoothEngine () async -> Void) {
        // A task with a known isolation is handed to its executor when it is made, so the order is kept.
        Task { @BluetoothEngine in await body() }
    }
}
