import Dispatch
import Foundation

/// How to enqueue the block of an `Inbox` that delivers events.
enum InboxScheduling {
    /// No block is needed.
    case none
    case now
    /// After a thread has made progress.
    case after(Holdback)
}

/// Queues a manager's events, and delivers them to the application in order. At most one block is on the application's
/// queue at any time. It delivers a batch of events, and the next block delivers the rest. Callbacks therefore run one
/// at a time, even on a concurrent queue.
final class Inbox<Event>: @unchecked Sendable {
    // Unchecked: events refer to the application's objects, which are used on `queue` alone.

    let queue: CallbackQueue
    private let state: Guarded<InboxState<Event>>
    /// Delivers events.
    private let block: RepeatedBlock

    /// The number of callbacks after which a block yields the queue.
    private static var batch: Int { 64 }

    init(_ queue: CallbackQueue) {
        self.queue = queue
        block = RepeatedBlock(on: queue)
        // A simulated world has one thread, which cannot run a block before the manager is created and assigned.
        if case .dispatch(let queue) = queue {
            state = Guarded(wrappedValue: InboxState(holdback: Holdback(on: queue)))
        } else {
            state = Guarded(wrappedValue: InboxState())
        }
    }

    /// Sets how events are delivered.
    ///
    /// - Parameter deliver: called on the queue. It calls `deliver(_:)`.
    func begin(_ deliver: @escaping @Sendable () -> Void) { block.begin(deliver) }

    /// Ends the delivery. Events that have not been delivered are dropped.
    func end() {
        block.cancel()
        // The events are released outside the lock: their deinitializers may use this inbox.
        let rest = state.withLock { $0.end() }
        for waiter in rest.waiting { waiter() }
    }

    // Sessions call these methods through their generic base class, so the compiler needs explicit specializations.
    // Unspecialized calls cost about 3,000 instructions per block.

    /// Adds an event. Call `schedule()` afterwards.
    @_specialize(where Event == CentralEvent)
    @_specialize(where Event == ServerEvent)
    func append(_ event: consuming Event) {
        // A closure cannot consume a captured value, and copying an event costs as much as everything else here.
        var moved = Optional(consume event)
        state.withLock { state in
            // An event that comes too late is released outside the lock.
            guard !state.isOver, let event = moved.take() else { return }
            state.arrived.append(consume event)
        }
    }

    /// Calls `body` when all events recorded so far have been delivered, possibly during this call.
    func whenDelivered(_ body: @escaping @Sendable () -> Void) {
        let isDelivered = state.withLock { state in
            guard state.isScheduled || !state.arrived.isEmpty, !state.isOver else { return true }
            state.awaitingDelivery.append(body)
            return false
        }
        if isDelivered { body() }
    }

    /// Decides how the events are delivered. Pass the result to `enqueue`, without a lock that the delivery needs.
    @_specialize(where Event == CentralEvent)
    @_specialize(where Event == ServerEvent)
    func schedule() -> InboxScheduling { state.withLock { $0.schedule() } }

    /// A call of the current thread may be answered before it returns, so the next callback waits for the thread.
    func waitForCaller() {
        guard case .dispatch(let queue) = queue else { return }
        state.withLock { state in
            if state.deliveringThread != pthread_self() { state.holdback = Holdback(on: queue) }
        }
    }

    /// Enqueues the block that delivers events. It never runs inside this call.
    @_specialize(where Event == CentralEvent)
    @_specialize(where Event == ServerEvent)
    func enqueue(_ scheduling: InboxScheduling) {
        switch scheduling {
        case .none: return
        case .now: block.enqueue()
        case .after(let holdback): holdback.wait { [block] in block.enqueue() }
        }
    }

    /// Delivers a batch of events, on the queue. Returns how to deliver the rest: pass it to `enqueue`.
    ///
    /// - Parameter handle: delivers an event, and returns the number of its callbacks.
    @_specialize(where Event == CentralEvent)
    @_specialize(where Event == ServerEvent)
    func deliver(_ handle: (consuming Event) -> Int) -> InboxScheduling {
        var events: [Event] = []
        var end = BlockEnd()
        var count = 0
        while count < Self.batch {
            if events.isEmpty, !state.withLock({ $0.take(into: &events, isFirst: count == 0, &end) }) {
                // From here on, the next block delivers.
                for waiter in end.waiting { waiter() }
                return end.scheduling
            }
            if let event = events.popLast() { count += max(1, handle(consume event)) }
        }
        return state.withLock { $0.leave(&events) }
    }
}

/// What follows a block that delivers events.
private struct BlockEnd {
    /// How to enqueue the next block.
    var scheduling = InboxScheduling.none
    /// What waits until all events are delivered.
    var waiting: [@Sendable () -> Void] = []
}

private struct InboxState<Event> {
    // Arrays, because a deque copies each event that is appended, which costs as much as everything else here.
    var arrived: [Event] = []
    /// The events that a block took but left to the next one, in reverse order. Otherwise memory for events.
    var rest: [Event] = []
    /// The number of events taken last.
    var takenCount = 0
    /// Whether a block is on the queue, or is about to be enqueued.
    var isScheduled = false
    var awaitingDelivery: [@Sendable () -> Void] = []
    /// Delays the next callback: the first one, and callbacks that may answer a call immediately. Nil if no delay is
    /// needed.
    var holdback: Holdback?
    /// Whether delivery was already held back. It is not held back again, however often the application calls.
    var wasHeldBack = false
    /// Whether events are no longer delivered.
    private(set) var isOver = false
    /// The thread that delivers events. Its calls are answered after the current callback anyway, so they need no
    /// delay.
    var deliveringThread: pthread_t?

    /// The memory of more events than this is freed.
    private static var keptCount: Int { 4096 }

    mutating func schedule() -> InboxScheduling {
        guard !isScheduled, !arrived.isEmpty, !isOver else { return .none }
        isScheduled = true
        return scheduleNext()
    }

    private mutating func scheduleNext() -> InboxScheduling {
        guard let holdback = holdback.take() else { return .now }
        wasHeldBack = true
        return .after(holdback)
    }

    /// Moves the next events into `events`, which is empty, in reverse order. If there are none to deliver now, it sets
    /// what follows, and returns false.
    ///
    /// - Parameter isFirst: whether the block begins.
    @inline(__always)
    mutating func take(into events: inout [Event], isFirst: Bool, _ end: inout BlockEnd) -> Bool {
        if isFirst { swap(&events, &rest) }
        // Perhaps on another thread than the events before.
        deliveringThread = pthread_self()
        guard events.isEmpty else { return true }
        if holdback != nil, !wasHeldBack, !arrived.isEmpty {
            end.scheduling = leave(&events)
            return false
        }
        wasHeldBack = false
        guard arrived.isEmpty else {
            if takenCount > Self.keptCount { events = [] }
            takenCount = arrived.count
            swap(&arrived, &events)
            // `Array.reverse` would copy each event.
            if takenCount > 1 { events.withUnsafeMutableBufferPointer { $0.reverse() } }
            return true
        }
        isScheduled = false
        deliveringThread = nil
        if takenCount <= Self.keptCount { swap(&rest, &events) }
        if !awaitingDelivery.isEmpty { swap(&awaitingDelivery, &end.waiting) }
        return false
    }

    /// Ends the delivery. Returns the events, and what waits for their delivery.
    mutating func end() -> (events: [[Event]], waiting: [@Sendable () -> Void]) {
        isOver = true
        defer { (arrived, rest, awaitingDelivery) = ([], [], []) }
        return ([arrived, rest], awaitingDelivery)
    }

    /// Leaves the rest of the events to the next block. Until then, no thread delivers.
    mutating func leave(_ events: inout [Event]) -> InboxScheduling {
        if isOver { return .none }
        swap(&rest, &events)
        deliveringThread = nil
        return scheduleNext()
    }
}
