import Dispatch
import Foundation

/// Queues a manager's events, and delivers them to the application in order. At most one block is on the application's
/// queue at any time. It delivers a batch of events, and the next block delivers the rest. Callbacks therefore run one
/// at a time, even on a concurrent queue.
final class Inbox<Event>: @unchecked Sendable {
    // Unchecked, and so is exclusive access: `delivering` and `next` are used only by the block on `queue`, the rest
    // with the lock of the session held. Events refer to the application's objects, which are used on `queue` alone.

    let queue: CallbackQueue
    private let lock: NSLock
    @exclusivity(unchecked) private var arrived: [Event] = []
    private var isScheduled = false
    private var awaitingDelivery: [@Sendable () -> Void] = []
    /// Delays the next callback: the first one, and callbacks that may answer a call immediately. Nil if no delay is
    /// needed.
    private var holdback: Holdback?
    /// Whether delivery was already held back. It is not held back again, however often the application calls.
    private var wasHeldBack = false
    /// The thread that delivers events. Its calls are answered after the current callback anyway, so they need no
    /// delay.
    private var deliveringThread: pthread_t?
    @exclusivity(unchecked) private var delivering: [Event] = []
    @exclusivity(unchecked) private var next = 0

    /// How many events one block delivers before it yields the queue.
    private static var batch: Int { 64 }
    /// Memory for more events than this is freed.
    private static var keptCapacity: Int { 4096 }

    init(_ queue: CallbackQueue, _ lock: NSLock) {
        self.queue = queue
        self.lock = lock
        // A simulated world has one thread, which cannot run a block before the manager is created and assigned.
        if case .dispatch(let queue) = queue { holdback = Holdback(on: queue) }
    }

    /// The number of queued events. Call with the lock held.
    var count: Int { arrived.count }

    /// Adds an event. Call with the lock held, then `schedule`.
    func append(_ event: Event) { arrived.append(event) }

    // Sessions call these methods through their generic base class, so the compiler needs explicit specializations.
    // Unspecialized calls cost about 3,000 instructions per block.

    /// Calls `body` when all events recorded so far have been delivered, possibly during this call. Call with the lock
    /// held.
    func whenDelivered(_ body: @escaping @Sendable () -> Void) {
        if isScheduled || !arrived.isEmpty { awaitingDelivery.append(body) } else { body() }
    }

    /// Schedules delivery of the events, never inside this call. Call with the lock held.
    ///
    /// - Parameter deliver: calls `deliver(_:)`.
    @_specialize(where Event == CentralEvent)
    @_specialize(where Event == ServerEvent)
    func schedule(_ deliver: @escaping @Sendable () -> Void) {
        guard !isScheduled, !arrived.isEmpty else { return }
        isScheduled = true
        enqueue(deliver)
    }

    /// A call of the current thread may be answered before it returns, so the next callback waits for the thread. Call
    /// with the lock held.
    func waitForCaller() {
        guard case .dispatch(let queue) = queue, deliveringThread != pthread_self() else { return }
        holdback = Holdback(on: queue)
    }

    /// Schedules a block that delivers the remaining events. Call with the lock held.
    func enqueue(_ deliver: @escaping @Sendable () -> Void) {
        guard let holdback else { return queue.async(deliver) }
        self.holdback = nil
        wasHeldBack = true
        holdback.wait { [queue] in queue.async(deliver) }
    }

    /// Delivers a batch of events, on the queue. True if there are more: then call `enqueue`.
    @_specialize(where Event == CentralEvent)
    @_specialize(where Event == ServerEvent)
    func deliver(_ handle: (Event) -> Void) -> Bool {
        if next < delivering.count {
            // The rest of a batch, perhaps on another thread than its beginning.
            lock.lock()
            deliveringThread = pthread_self()
            lock.unlock()
        }
        for _ in 0..<Self.batch {
            if next == delivering.count {
                delivering.removeAll(keepingCapacity: delivering.capacity <= Self.keptCapacity)
                next = 0
                lock.lock()
                if holdback != nil, !wasHeldBack, !arrived.isEmpty {
                    deliveringThread = nil
                    lock.unlock()
                    return true
                }
                wasHeldBack = false
                swap(&arrived, &delivering)
                guard !delivering.isEmpty else {
                    isScheduled = false
                    deliveringThread = nil
                    let waiting = awaitingDelivery
                    awaitingDelivery = []
                    lock.unlock()
                    // From here on, the events belong to the next block. On a concurrent queue it may already run.
                    for waiter in waiting { waiter() }
                    return false
                }
                deliveringThread = pthread_self()
                lock.unlock()
            }
            next += 1
            handle(delivering[next - 1])
        }
        // Until the next block, no thread delivers.
        lock.lock()
        deliveringThread = nil
        lock.unlock()
        return true
    }
}
