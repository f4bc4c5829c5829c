import Dispatch
import Foundation

/// The events for the application, in order. One block on the application's queue delivers all that have arrived by the
/// time it runs; there is never more than one such block.
final class Inbox<Event>: @unchecked Sendable {
    // Unchecked, and so is exclusive access: `arrived`, `isScheduled` and `awaitingDelivery` are used with the lock of the session held, the
    // rest on `queue` alone. Events speak of the application's objects, which are touched on `queue` alone.

    let queue: CallbackQueue
    private let lock: NSLock
    @exclusivity(unchecked) private var arrived: [Event] = []
    private var isScheduled = false
    private var awaitingDelivery: [@Sendable () -> Void] = []
    /// Holds back the first callback; nil once it may be made.
    private var firstCallback: FirstCallback?
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
        if case .dispatch(let queue) = queue { firstCallback = FirstCallback(on: queue) }
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
        guard let firstCallback else { return queue.async(deliver) }
        self.firstCallback = nil
        firstCallback.wait { [queue] in queue.async(deliver) }
    }

    /// Delivers some of the events, on the queue. True if there are more: then call it again.
    @_specialize(where Event == CentralEvent)
    @_specialize(where Event == ServerEvent)
    func deliver(_ handle: (Event) -> Void) -> Bool {
        for _ in 0..<Self.batch {
            if next == delivering.count {
                delivering.removeAll(keepingCapacity: delivering.capacity <= Self.keptCapacity)
                next = 0
                lock.lock()
                swap(&arrived, &delivering)
                isScheduled = !delivering.isEmpty
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
