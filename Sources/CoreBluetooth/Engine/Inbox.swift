import BluetoothBase
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
    func append(_ event: consuming Event) { append(event, octets: Span()) }

    /// Adds an event and octets that belong to it. Call `schedule()` afterwards.
    @_specialize(where Event == CentralEvent)
    @_specialize(where Event == ServerEvent)
    func append(_ event: consuming Event, octets: borrowing Span<UInt8>) {
        // A closure cannot consume a captured value, and copying an event costs as much as everything else here.
        var moved = Optional(consume event)
        state.withLock { state in
            // An event that comes too late is released outside the lock.
            guard !state.isOver, let event = moved.take() else { return }
            state.arrived.append(consume event, copy octets)
        }
    }

    /// Calls `body` when all events recorded so far have been delivered, possibly during this call.
    func whenDelivered(_ body: @escaping @Sendable () -> Void) {
        let isDelivered = state.withLock { state in
            guard state.isScheduled || !state.arrived.events.isEmpty, !state.isOver else { return true }
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
    /// - Parameter handle: delivers an event with its octets, and returns the number of its callbacks.
    @_specialize(where Event == CentralEvent)
    @_specialize(where Event == ServerEvent)
    func deliver(_ handle: (consuming Event, borrowing Span<UInt8>) -> Int) -> InboxScheduling {
        var content = InboxContent<Event>()
        var end = BlockEnd()
        var count = 0
        while count < Self.batch {
            if content.events.isEmpty, !state.withLock({ $0.take(into: &content, isFirst: count == 0, &end) }) {
                // From here on, the next block delivers.
                for waiter in end.waiting { waiter() }
                return end.scheduling
            }
            count += max(1, content.takeNext(handle))
        }
        return state.withLock { $0.leave(&content) }
    }
}

/// What follows a block that delivers events.
private struct BlockEnd {
    /// How to enqueue the next block.
    var scheduling = InboxScheduling.none
    /// What waits until all events are delivered.
    var waiting: [@Sendable () -> Void] = []
}

/// Events and their octets.
private struct InboxContent<Event> {
    // An array, because a deque copies each event that is appended, which costs as much as everything else here.
    var events: [(event: Event, octetCount: Int)] = []
    // One buffer for all: allocating memory for each value costs several times as much as copying it.
    private var octets = ByteWriter()
    /// The number of octets whose events were taken.
    private var takenCount = 0

    /// Whether its memory is worth keeping.
    var isSmall: Bool { events.count <= 4096 && octets.count <= 65_536 }

    @inline(__always)
    mutating func append(_ event: consuming Event, _ more: Span<UInt8>) {
        if !more.isEmpty { octets.append(more) }
        events.append((event, more.count))
    }

    /// Takes the last of the events, and passes it to `body` with its octets.
    @inline(__always)
    mutating func takeNext(_ body: (consuming Event, borrowing Span<UInt8>) -> Int) -> Int {
        guard let (event, count) = events.popLast() else { return 0 }
        let start = takenCount
        takenCount += count
        return body(consume event, octets.span.extracting(start..<start + count))
    }

    /// Drops the octets of events that were taken.
    mutating func clearOctets() {
        octets.removeAll()
        takenCount = 0
    }
}

private struct InboxState<Event> {
    var arrived = InboxContent<Event>()
    /// The events that a block took but left to the next one, in reverse order. Otherwise memory for events.
    var rest = InboxContent<Event>()
    /// Whether the memory of the events taken last is kept.
    var keepsMemory = true
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

    mutating func schedule() -> InboxScheduling {
        guard !isScheduled, !arrived.events.isEmpty, !isOver else { return .none }
        isScheduled = true
        return scheduleNext()
    }

    private mutating func scheduleNext() -> InboxScheduling {
        guard let holdback = holdback.take() else { return .now }
        wasHeldBack = true
        return .after(holdback)
    }

    /// Moves the next events into `content`, which has none, in reverse order. If there are none to deliver now, it
    /// sets what follows, and returns false.
    ///
    /// - Parameter isFirst: whether the block begins.
    @inline(__always)
    mutating func take(into content: inout InboxContent<Event>, isFirst: Bool, _ end: inout BlockEnd) -> Bool {
        if isFirst { swap(&content, &rest) }
        // Perhaps on another thread than the events before.
        deliveringThread = pthread_self()
        guard content.events.isEmpty else { return true }
        if holdback != nil, !wasHeldBack, !arrived.events.isEmpty {
            end.scheduling = leave(&content)
            return false
        }
        wasHeldBack = false
        if keepsMemory { content.clearOctets() } else { content = InboxContent() }
        guard arrived.events.isEmpty else {
            keepsMemory = arrived.isSmall
            swap(&arrived, &content)
            // `Array.reverse` would copy each event.
            if content.events.count > 1 { content.events.withUnsafeMutableBufferPointer { $0.reverse() } }
            return true
        }
        isScheduled = false
        deliveringThread = nil
        swap(&rest, &content)
        if !awaitingDelivery.isEmpty { swap(&awaitingDelivery, &end.waiting) }
        return false
    }

    /// Ends the delivery. Returns the events, and what waits for their delivery.
    mutating func end() -> (events: [InboxContent<Event>], waiting: [@Sendable () -> Void]) {
        isOver = true
        defer { (arrived, rest, awaitingDelivery) = (InboxContent(), InboxContent(), []) }
        return ([arrived, rest], awaitingDelivery)
    }

    /// Leaves the rest of the events to the next block. Until then, no thread delivers.
    mutating func leave(_ content: inout InboxContent<Event>) -> InboxScheduling {
        if isOver { return .none }
        swap(&rest, &content)
        deliveringThread = nil
        return scheduleNext()
    }
}
