import Dispatch
import Foundation

/// The events for the application, in order. One block on the application's queue delivers all that have arrived by the
/// time it runs; there is never more than one such block.
final class Inbox<Event>: @unchecked Sendable {
    // Unchecked, and so is exclusive access: `delivering` and `next` are used on `queue` alone, the rest with the lock of the
    // session held. Events speak of the application's objects, which are touched on `queue` alone.

    let queue: CallbackQueue
    private let lock: NSLock
    @exclusivity(unchecked) private var arrived: [Event] = []
    private var isScheduled = false
    private var awaitingDelivery: [@Sendable () -> Void] = []
    /// Holds back the next callback: the first, and those that answer a call at once. Nil where it may be made.
    private var holdback: Holdback?
    /// Whether delivery was held back: it is not again, however often the application calls.
    private var wasHeldBack = false
    /// The thread that delivers now. What it calls for is answered after the callback it is in anyway.
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
        // A world has one thread, which cannot run a block before the manager is made and assigned.
        if case .dispatch(let queue) = queue { holdback = Holdback(on: queue) }
    }

    /// How many events wait. Call with the lock held.
    var count: Int { arrived.count }

    /// Adds an event. Call with the lock held, then `schedule`.
    func append(_ event: Event) { arrived.append(event) }

    // Managers call this through their generic base class, so that the compiler has to be told what it is called with.
    // Unspecialised, it costs some 3,000 instructions for each block.

    /// Calls `body` when all events recorded so far have been delivered, which may be now. Call with the lock held.
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

    /// The calling thread may be answered before the call returns: what is told next waits for it. Call with the lock held.
    func waitForCaller() {
        guard case .dispatch(let queue) = queue, deliveringThread != pthread_self() else { return }
        holdback = Holdback(on: queue)
    }

    /// Has the rest delivered. Call with the lock held.
    func enqueue(_ deliver: @escaping @Sendable () -> Void) {
        guard let holdback else { return queue.async(deliver) }
        self.holdback = nil
        wasHeldBack = true
        holdback.wait { [queue] in queue.async(deliver) }
    }

    /// Delivers some of the events, on the queue. True if there are more: then call `enqueue`.
    @_specialize(where Event == CentralEvent)
    @_specialize(where Event == ServerEvent)
    func deliver(_ handle: (Event) -> Void) -> Bool {
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
                isScheduled = !delivering.isEmpty
                deliveringThread = delivering.isEmpty ? nil : pthread_self()
                let waiting = delivering.isEmpty ? awaitingDelivery : []
                if delivering.isEmpty { awaitingDelivery = [] }
                lock.unlock()
                if delivering.isEmpty {
                    for waiter in waiting { waiter() }
                    return false
                }
            }
            next += 1
            handle(delivering[next - 1])
        }
        return true
    }
}
