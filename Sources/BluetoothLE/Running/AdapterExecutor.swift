import BluetoothBase
import HCITransport
import Synchronization

/// What an adapter's thread runs between calls.
protocol AdapterDriver: Actor {
    /// Does what there is to do and says what to wait for next. Called on the driver's executor.
    func turn() -> AdapterWish
    /// The transport is ready. Called on the driver's executor.
    func transportIsReady(_ event: EventLoop.Event)
}

/// What an adapter wants its thread to wait for.
struct AdapterWish: Sendable {
    /// Nil where there is no descriptor to watch.
    var fileDescriptor: Int32?
    /// Another one for each descriptor: the system uses the numbers of those that were closed again.
    var watchNumber = 0
    var wantsWrite = false
    var deadline: Instant?
}

/// The thread of one adapter. It waits for the transport, for the next deadline and for calls, and runs the adapter's
/// actor whenever one of them comes. While none does, it uses no processor time.
///
/// Calls may still come when the thread has ended, for an adapter can be closed while others hold it. They run on a
/// thread of the system's pool, one after the other.
final class AdapterExecutor: SerialExecutor {
    private struct Jobs {
        var queue: [UnownedJob] = []
        /// Whether the thread is to end, or there is none yet.
        var isStopped = true
        /// Whether somebody is there who runs what is queued.
        var isServed = false
    }

    private let jobs = Mutex(Jobs())
    private let threadIdentifier = Atomic<Int32>(0)
    private let waker: Waker

    init() throws(TransportError) {
        waker = try Waker()
    }

    /// Starts the thread, once. It ends when `stop()` is called or the driver is gone.
    func start(driving driver: any AdapterDriver) throws(TransportError) {
        let run = Run(executor: self, loop: try EventLoop(waker: waker), driver: driver)
        jobs.withLock { $0 = Jobs(isStopped: false, isServed: true) }
        do throws(TransportError) {
            try startThread { run.executor.run(run) }
        } catch {
            jobs.withLock { $0 = Jobs() }
            throw error
        }
    }

    /// Ends the thread once the calls that wait have run.
    func stop() {
        jobs.withLock { $0.isStopped = true }
        wake()
    }

    /// Whether there is a thread, or somebody else who runs calls that came late.
    var isServed: Bool { jobs.withLock { $0.isServed } }

    /// Makes the thread take a turn soon.
    func wake() { waker.wake() }

    // MARK: SerialExecutor

    func enqueue(_ job: consuming ExecutorJob) {
        // Who calls need not hold this object: the job may be the end of the adapter that does, and be done before this is.
        let held = Unmanaged.passRetained(self)
        defer { held.release() }
        let job = UnownedJob(job)
        let isServed = jobs.withLock { jobs in
            jobs.queue.append(job)
            defer { jobs.isServed = true }
            return jobs.isServed
        }
        if !isServed {
            Task.detached { self.runLateJobs() }
        } else if !isCurrent {
            // The thread looks for calls before it waits, so it need not wake itself.
            wake()
        }
    }

    func isSameExclusiveExecutionContext(other: AdapterExecutor) -> Bool { self === other }

    func checkIsolated() {
        precondition(isCurrent, "not on the adapter's thread")
    }

    private var isCurrent: Bool { threadIdentifier.load(ordering: .relaxed) == CurrentThread.identifier }

    // MARK: The thread

    /// What is handed to the thread when it starts.
    private final class Run {
        let executor: AdapterExecutor
        let loop: EventLoop
        weak var driver: (any AdapterDriver)?

        init(executor: AdapterExecutor, loop: EventLoop, driver: any AdapterDriver) {
            self.executor = executor
            self.loop = loop
            self.driver = driver
        }
    }

    private func run(_ run: Run) {
        threadIdentifier.store(CurrentThread.identifier, ordering: .relaxed)
        var watched = Watch()
        var batch: [UnownedJob] = []
        while runJobs(&batch) {
            guard let wish = wish(of: run) else { continue }
            watched.follow(wish, on: run.loop)
            let deadline = hasJobs ? Instant.zero : wish.deadline
            for event in run.loop.wait(until: deadline) where event.token == watched.token {
                run.driver?.assumeIsolated { $0.transportIsReady(event) }
            }
        }
    }

    /// Runs the calls that come after the thread has ended.
    private func runLateJobs() {
        threadIdentifier.store(CurrentThread.identifier, ordering: .relaxed)
        var batch: [UnownedJob] = []
        while runJobs(&batch) {}
    }

    /// Runs the calls that wait. False at the end: who queues the next one has to find somebody else to run it.
    ///
    /// - Parameter batch: an empty array, whose memory is used again.
    private func runJobs(_ batch: inout [UnownedJob]) -> Bool {
        let isServed = jobs.withLock { jobs in
            swap(&batch, &jobs.queue)
            if jobs.isStopped, batch.isEmpty { jobs.isServed = false }
            return jobs.isServed
        }
        for job in batch { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
        batch.removeAll(keepingCapacity: true)
        return isServed
    }

    /// Lets the driver take a turn; nil, and the thread told to end, once the driver is gone.
    private func wish(of run: Run) -> AdapterWish? {
        guard let driver = run.driver else {
            jobs.withLock { $0.isStopped = true }
            return nil
        }
        return driver.assumeIsolated { driver in driver.turn() }
    }

    private var hasJobs: Bool { jobs.withLock { !$0.queue.isEmpty || $0.isStopped } }

    /// The descriptor that the loop watches for the adapter.
    private struct Watch {
        var token = 0
        var number = 0
        var fileDescriptor: Int32?
        var interest: EventLoop.Interest = .read

        /// Watches what the adapter wishes. A loop that cannot watch a descriptor never reports it, and the time-outs of
        /// the host notice.
        mutating func follow(_ wish: AdapterWish, on loop: EventLoop) {
            let interest: EventLoop.Interest = wish.wantsWrite ? [.read, .write] : .read
            if wish.fileDescriptor != fileDescriptor || wish.watchNumber != number {
                // Where it has been closed, the loop has forgotten it already.
                if let fileDescriptor { loop.remove(fileDescriptor) }
                token += 1
                number = wish.watchNumber
                fileDescriptor = wish.fileDescriptor
                if let fileDescriptor { try? loop.add(fileDescriptor, token: token, for: interest) }
            } else if interest != self.interest, let fileDescriptor {
                try? loop.change(fileDescriptor, token: token, to: interest)
            }
            self.interest = interest
        }
    }
}
