import BluetoothAdapter
import DequeModule
import Synchronization

/// Connects one producer with the consumers of an asynchronous sequence: a bounded buffer, an end that each consumer
/// gets exactly once, and waits that end on cancellation.
@usableFromInline
final class AsyncQueue<Element: Sendable>: Sendable {
    /// The policy for an element that does not fit.
    enum Overflow: Sendable {
        /// The oldest element is dropped: for events that become outdated.
        case dropOldest
        /// The new element is dropped: for events that the sender does not rely on.
        case dropNewest
        /// The sequence ends with `BluetoothError.overflow`: for data that must be complete.
        case fail
        /// The buffer grows: for data that is bounded by other means.
        case grow
    }

    private struct State {
        var buffer = Deque<Element>()
        /// The number of elements taken, and the counts after which data was lost, each listed once.
        var taken = 0
        var losses: [Int] = []
        var dropped = 0
        /// `.end` or `.failure`, once the sequence has ended.
        var end: QueuePoll?

        /// Moves the next element to `next`. Returns what a consumer finds; nil if it must wait.
        ///
        /// - Parameter leavesLoss: whether a loss stays for the next call. Evaluated only if there is one.
        mutating func take(
            _ next: inout Element?, leavingLossIf leavesLoss: @autoclosure () -> Bool
        ) -> QueuePoll? {
            if !losses.isEmpty, losses[0] == taken {
                if leavesLoss() { return nil }
                losses.removeFirst()
                return .failure(.dataLost)
            }
            if buffer.isEmpty { return end }
            next = buffer.removeFirst()
            taken &+= 1
            return .element
        }
    }

    private let state = Mutex(State())
    @usableFromInline let waits = ConsumerWaits()
    private let capacity: Int
    private let overflow: Overflow
    /// Makes room in a full buffer without loss, if that is possible.
    private let compact: (@Sendable (inout Deque<Element>) -> Void)?
    /// Returns the element to keep in place of one that does not fit, given those already kept beyond the capacity; nil
    /// for none. This function must bound their number.
    private let mark: (@Sendable (Element, Deque<Element>.SubSequence) -> Element?)?
    /// Called when an element is dropped, with the number of elements dropped so far.
    private let onDrop: (@Sendable (Int) -> Void)?
    /// Called with each element that was taken, or that never will be.
    private let onTake: (@Sendable (Element) -> Void)?

    init(
        capacity: Int, overflow: Overflow, compact: (@Sendable (inout Deque<Element>) -> Void)? = nil,
        mark: (@Sendable (Element, Deque<Element>.SubSequence) -> Element?)? = nil,
        onDrop: (@Sendable (Int) -> Void)? = nil, onTake: (@Sendable (Element) -> Void)? = nil
    ) {
        self.onDrop = onDrop
        self.capacity = capacity
        self.overflow = overflow
        self.compact = compact
        self.mark = mark
        self.onTake = onTake
    }

    /// The number of elements that were dropped because the buffer was full.
    var droppedCount: Int { state.withLock { $0.dropped } }

    /// Whether the sequence has ended because an element did not fit.
    var isOverflown: Bool {
        state.withLock { state in
            if case .failure(.overflow)? = state.end { true } else { false }
        }
    }

    /// The number of buffered elements, and of waiting consumers.
    var count: Int { state.withLock { $0.buffer.count } }
    var waiterCount: Int { waits.count }

    /// Buffers an element, and wakes the consumer that has waited longest. Returns false if the element was dropped.
    @discardableResult
    func push(_ element: Element) -> Bool {
        buffer(1) { state in
            guard state.end == nil else { return false }
            let hasRoom = hasRoom(&state)
            if hasRoom { state.buffer.append(element) } else { keepMark(of: element, in: &state) }
            return hasRoom
        }
    }

    /// Buffers some elements of an array, and wakes as many consumers. Each element is copied only once. Returns false
    /// if one of them was dropped.
    @discardableResult
    func push(_ elements: borrowing [Element], in range: Range<Int>) -> Bool {
        buffer(range.count) { state in
            // Usually all of them fit, and are appended at once.
            if state.end == nil, state.buffer.count + range.count <= capacity {
                state.buffer.append(contentsOf: elements[range])
                return true
            }
            var areTaken = state.end == nil
            for index in range where state.end == nil {
                if hasRoom(&state) {
                    state.buffer.append(elements[index])
                } else {
                    keepMark(of: elements[index], in: &state)
                    areTaken = false
                }
            }
            return areTaken
        }
    }

    /// Wakes consumers for `count` elements that `add` has buffered, and reports what was dropped. Returns what `add`
    /// returns: false if an element did not fit.
    private func buffer(_ count: Int, _ add: (inout State) -> Bool) -> Bool {
        let (areTaken, dropped) = state.withLock { state -> (Bool, Int?) in
            let before = state.dropped
            return (add(&state), state.dropped == before ? nil : state.dropped)
        }
        // An element that does not fit may have ended the sequence.
        if areTaken { waits.end(count) } else { waits.endAll() }
        if let dropped, let onDrop { onDrop(dropped) }
        return areTaken
    }

    /// Returns whether there is room for one more element, and makes room if the policy allows it.
    private func hasRoom(_ state: inout State) -> Bool { state.buffer.count < capacity || makeRoom(&state) }

    /// Keeps the mark of an element that does not fit, if it has one.
    private func keepMark(of element: Element, in state: inout State) {
        if let mark = mark?(element, state.buffer[capacity...]) { state.buffer.append(mark) }
    }

    /// Makes room in a full buffer if the policy allows it. Returns false if it does not.
    private func makeRoom(_ state: inout State) -> Bool {
        compact?(&state.buffer)
        guard state.buffer.count >= capacity else { return true }
        switch overflow {
        case .dropOldest:
            state.buffer.removeFirst()
            state.taken &+= 1
            state.dropped += 1
            return true
        case .dropNewest: state.dropped += 1
        case .fail: state.end = .failure(.overflow)
        case .grow: return true
        }
        return false
    }

    /// Records that data was lost between the previous and the next element. A consumer gets `.dataLost` there, and may
    /// continue.
    func noteLoss() {
        state.withLock { state in
            guard state.end == nil else { return }
            let place = state.taken &+ state.buffer.count
            if state.losses.last != place { state.losses.append(place) }
        }
        waits.end()
    }

    /// Ends the sequence after the buffered elements. Only the first end counts.
    func finish(_ error: BluetoothError? = nil) {
        state.withLock { state in
            if state.end == nil { state.end = error.map { .failure($0) } ?? .end }
        }
        waits.endAll()
    }

    /// Ends the sequence, and drops the remaining elements.
    func abandon() {
        finish()
        // Outside the lock: an element may hold the last reference to the producer.
        let rest = state.withLock { state in
            defer { state.buffer = [] }
            return state.buffer
        }
        if let onTake { for element in rest { onTake(element) } }
    }

    // There may be hundreds of thousands of values or sightings, and unspecialized code looks up its types for each of
    // them. So an application compiles this loop for its type, and what the loop calls is specialized or not generic.
    // `poll` only forwards, because even its unspecialized form looks up the types of its variables.

    /// The next element; nil at the end. Throws `.cancelled` when the task is cancelled.
    @inlinable
    @inline(__always)
    func next(isolation actor: isolated (any Actor)? = #isolation) async throws(BluetoothError) -> Element? {
        var element: Element?
        var hasWaited = false
        while true {
            switch poll(&element, hasWaited: hasWaited) {
            case .element, .end: return element
            case .failure(let error): throw error
            case .nothing(let changes):
                await waits.wait(after: changes, isolation: actor)
                hasWaited = true
            }
        }
    }

    /// Takes the next element if there is one.
    ///
    /// - Parameters:
    ///   - next: set to the element; otherwise unchanged.
    ///   - hasWaited: whether the task has waited for the element. If it was cancelled, it does not wait again.
    @usableFromInline
    @_specialize(where Element == [UInt8])
    @_specialize(where Element == Sighting)
    func poll(_ next: inout Element?, hasWaited: Bool) -> QueuePoll { takeNext(&next, hasWaited: hasWaited) }

    @inline(never)
    private func takeNext(_ next: inout Element?, hasWaited: Bool) -> QueuePoll {
        // Read before the state, so that a wait ends if something changes in between.
        let changes = waits.changes
        // Whoever cancelled the task may discard an error, but not an element.
        let found = state.withLock { $0.take(&next, leavingLossIf: hasWaited && Task.isCancelled) }
        if let found {
            if let onTake, let next { onTake(next) }
            return found
        }
        guard hasWaited, Task.isCancelled else { return .nothing(changes) }
        // A cancelled task does not wait, so it gets here at once. The loss that it leaves may have woken only it.
        waits.end()
        return .failure(.cancelled)
    }
}

/// What a consumer finds in an `AsyncQueue`.
@usableFromInline
enum QueuePoll {
    case element
    /// The sequence has ended without an error.
    case end
    /// The error that ended the sequence, a loss, or a cancellation.
    case failure(BluetoothError)
    /// Nothing. The consumer waits until there are other changes than these.
    case nothing(UInt64)
}
