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

    // Unsafe, because a checked one allocates for each element. Resuming one requires taking it out of the state first,
    // so each is resumed once.
    @usableFromInline typealias Continuation = UnsafeContinuation<QueueItem<Element>, Never>

    private struct State {
        /// The elements that no consumer has taken. While a consumer waits, there is no element, loss or end.
        var buffer = Deque<Element>()
        /// The consumers that wait, in the order in which they began.
        var waits = QueueWaits<Continuation>()
        /// The number of elements taken, and the counts after which data was lost, each listed once.
        var taken = 0
        var losses: [Int] = []
        var dropped = 0
        /// The last element of `hand`, whose storage the next one uses unless it is still used elsewhere.
        var handed: Element?
        /// Once the sequence has ended.
        var end: QueueEnd?

        /// Whether a consumer may not need to wait.
        var hasContent: Bool { !buffer.isEmpty || !losses.isEmpty || end != nil }

        /// Moves the next element to `next`. Returns what a consumer finds; nil if it must wait.
        mutating func take(_ next: inout Element?) -> QueueFinding? {
            if !losses.isEmpty, losses[0] == taken {
                losses.removeFirst()
                return .end(.failure(.dataLost))
            }
            if buffer.isEmpty { return end.map { .end($0) } }
            next = buffer.removeFirst()
            taken &+= 1
            return .element
        }

        /// Removes the consumer that gets the next element; nil if the element must be buffered.
        @inline(__always)
        mutating func takeWait() -> Continuation? {
            let waiting = waits.popFirst()
            if waiting != nil { taken &+= 1 }
            return waiting
        }
    }

    private let state = Mutex(State())
    /// `State.hasContent`, so that a consumer that must wait locks the state only once: it looks again when its wait
    /// begins, so this may be outdated.
    private let hasContent = Atomic(false)
    private let lastNumber = Atomic<UInt64>(0)
    private let capacity: Int
    private let overflow: Overflow
    /// Makes room in a full buffer without loss, if that is possible.
    private let compact: (@Sendable (inout Deque<Element>) -> Void)?
    /// Returns the element to keep in place of one that does not fit, given those already kept beyond the capacity; nil
    /// for none. This function must bound their number.
    private let mark: (@Sendable (Element, Deque<Element>.SubSequence) -> Element?)?
    /// Called when an element is dropped, with the number of elements dropped so far.
    private let onDrop: (@Sendable (Int) -> Void)?
    /// Called with each element of `push` that was taken, or that never will be.
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

    /// Changes the state so that there may be content, or none.
    @inline(__always)
    private func change<Value>(_ body: (inout State) -> sending Value) -> Value {
        state.withLock { state in
            defer { hasContent.store(state.hasContent, ordering: .relaxed) }
            return body(&state)
        }
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
    var waiterCount: Int { state.withLock { $0.waits.count } }

    /// Hands an element to the consumer that has waited longest, or buffers it. Returns false if the element was
    /// dropped.
    @discardableResult
    func push(_ element: Element) -> Bool {
        let (waiting, isTaken, dropped) = change { state -> (Continuation?, Bool, Int?) in
            if let waiting = state.takeWait() { return (waiting, true, nil) }
            let before = state.dropped
            let isTaken = state.end == nil && add(element, to: &state)
            return (nil, isTaken, state.dropped == before ? nil : state.dropped)
        }
        if let waiting { hand(element, to: waiting) }
        if let dropped, let onDrop { onDrop(dropped) }
        return isTaken
    }

    /// Hands the first of some elements to the consumers that wait, and buffers the others. Each element is copied only
    /// once. Returns false if one of them was dropped.
    @discardableResult
    func push(_ elements: borrowing [Element], in range: Range<Int>) -> Bool {
        var first: Continuation?
        var others: [Continuation] = []
        // At once, so that a consumer that continues finds the others.
        let (areTaken, dropped) = change { state -> (Bool, Int?) in
            var rest = range
            if !rest.isEmpty {
                first = state.takeWait()
                if first != nil { rest.removeFirst() }
            }
            while !rest.isEmpty, let next = state.takeWait() {
                others.append(next)
                rest.removeFirst()
            }
            let before = state.dropped
            let areTaken = state.end == nil && add(elements, in: rest, to: &state)
            return (areTaken, state.dropped == before ? nil : state.dropped)
        }
        if let first {
            hand(elements[range.lowerBound], to: first)
            for (offset, other) in others.enumerated() { hand(elements[range.lowerBound + 1 + offset], to: other) }
        }
        if let dropped, let onDrop { onDrop(dropped) }
        return areTaken
    }

    @inline(__always)
    private func hand(_ element: Element, to waiting: Continuation) {
        if let onTake { onTake(element) }
        waiting.resume(returning: .element(element))
    }

    /// Buffers some elements of an array. Returns false if one of them was dropped.
    private func add(_ elements: borrowing [Element], in range: Range<Int>, to state: inout State) -> Bool {
        // Usually all of them fit, and are appended at once.
        if state.buffer.count + range.count <= capacity {
            state.buffer.append(contentsOf: elements[range])
            return true
        }
        var areTaken = true
        for index in range where state.end == nil {
            if !add(elements[index], to: &state) { areTaken = false }
        }
        return areTaken
    }

    /// Buffers an element. Returns false if it does not fit and was dropped.
    @inline(__always)
    private func add(_ element: Element, to state: inout State) -> Bool {
        if hasRoom(&state) {
            state.buffer.append(element)
            return true
        }
        keepMark(of: element, in: &state)
        return false
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
        let waiting = change { state -> Continuation? in
            guard state.end == nil else { return nil }
            if let waiting = state.waits.popFirst() { return waiting }
            let place = state.taken &+ state.buffer.count
            if state.losses.last != place { state.losses.append(place) }
            return nil
        }
        waiting?.resume(returning: .end(.failure(.dataLost)))
    }

    /// Leaves a loss to the consumer that comes next. If another consumer has taken an element since, the loss comes
    /// after that element.
    @usableFromInline
    func giveBackLoss() {
        let waiting = change { state -> Continuation? in
            if let waiting = state.waits.popFirst() { return waiting }
            if state.losses.first != state.taken { state.losses.insert(state.taken, at: 0) }
            return nil
        }
        waiting?.resume(returning: .end(.failure(.dataLost)))
    }

    /// Ends the sequence after the buffered elements. Only the first end counts.
    func finish(_ error: BluetoothError? = nil) {
        let end = error.map { QueueEnd.failure($0) } ?? .over
        var waits = change { state in
            if state.end == nil { state.end = end }
            defer { state.waits = QueueWaits() }
            return state.waits
        }
        while let waiting = waits.popFirst() { waiting.resume(returning: .end(end)) }
    }

    /// Ends the sequence, and drops the remaining elements.
    func abandon() {
        finish()
        // Outside the lock: an element may hold the last reference to the producer.
        let rest = change { state in
            state.handed = nil
            defer { state.buffer = [] }
            return state.buffer
        }
        if let onTake { for element in rest { onTake(element) } }
    }

    // MARK: - Consuming

    // There may be hundreds of thousands of values or sightings, and unspecialized code looks up its types for each of
    // them. So an application compiles `next` for its type, and what it calls is specialized. `take` and `begin` only
    // forward, because even their unspecialized forms look up the types of their variables.

    /// The next element; nil at the end. Throws `.cancelled` when the task is cancelled.
    @inlinable
    @inline(__always)
    func next(isolation actor: isolated (any Actor)? = #isolation) async throws(BluetoothError) -> Element? {
        var element: Element?
        switch take(&element) {
        case .element: return element
        case .end(.over): return nil
        case .end(.failure(let error)): throw error
        case nil: break
        }
        switch await wait(isolation: actor) {
        case .element(let element): return element
        case .end(.over): return nil
        case .end(.failure(let error)): throw error
        }
    }

    /// Suspends the task until there is something for it, or it is cancelled.
    // Compiled into the caller, because each asynchronous call costs some 400 instructions.
    @inlinable
    @inline(__always)
    func wait(isolation actor: isolated (any Actor)?) async -> QueueItem<Element> {
        let wait = makeWait()
        let item = await withTaskCancellationHandler(
            operation: {
                await withUnsafeContinuation(isolation: actor) { begin(wait, $0) }
            }, onCancel: { cancel(wait) }, isolation: actor)
        // Whoever cancelled the task may discard an error, but not a loss.
        if case .end(.failure(.dataLost)) = item, Task.isCancelled {
            giveBackLoss()
            return .end(.failure(.cancelled))
        }
        return item
    }

    @usableFromInline
    func makeWait() -> QueueWait { QueueWait(number: lastNumber.wrappingAdd(1, ordering: .relaxed).newValue) }

    /// Takes the next element if there is one, and moves it to `next`. Returns what a consumer finds; nil if it must
    /// wait.
    @usableFromInline
    @_specialize(where Element == [UInt8])
    @_specialize(where Element == ReceivedOctets)
    @_specialize(where Element == Sighting)
    func take(_ next: inout Element?) -> QueueFinding? {
        hasContent.load(ordering: .relaxed) ? takeNow(&next) : nil
    }

    @inline(never)
    private func takeNow(_ next: inout Element?) -> QueueFinding? {
        let finding = change { $0.take(&next) }
        if let onTake, let next { onTake(next) }
        return finding
    }

    /// Begins a wait, or resumes the task at once if there is something for it, or it was cancelled.
    @usableFromInline
    @_specialize(where Element == [UInt8])
    @_specialize(where Element == ReceivedOctets)
    @_specialize(where Element == Sighting)
    func begin(_ wait: borrowing QueueWait, _ continuation: Continuation) { beginNow(wait, continuation) }

    @inline(never)
    private func beginNow(_ wait: borrowing QueueWait, _ continuation: Continuation) {
        var element: Element?
        let finding = change { state -> QueueFinding? in
            if let finding = state.take(&element) { return finding }
            if wait.isCancelled { return .end(.failure(.cancelled)) }
            state.waits.append(wait.number, continuation)
            return nil
        }
        switch finding {
        case .element: if let element { hand(element, to: continuation) }
        case .end(let end): continuation.resume(returning: .end(end))
        case nil: return
        }
    }

    /// Ends a wait because its task was cancelled.
    @usableFromInline
    func cancel(_ wait: borrowing QueueWait) {
        let waiting = state.withLock { state in
            // For a wait that has not begun.
            wait.cancel()
            return state.waits.remove(wait.number)
        }
        waiting?.resume(returning: .end(.failure(.cancelled)))
    }
}

extension AsyncQueue<[UInt8]> {
    /// Hands octets to the consumer that has waited longest, without `onTake`. Returns false if none waits: then `push`
    /// them.
    @inline(__always)
    func hand(_ octets: borrowing Span<UInt8>) -> Bool {
        var element: [UInt8]?
        let waiting = state.withLock { state -> Continuation? in
            guard !state.waits.isEmpty else { return nil }
            state.handed.overwrite(with: octets)
            element = state.handed
            return state.takeWait()
        }
        guard let waiting, let element = element.take() else { return false }
        waiting.resume(returning: .element(element))
        return true
    }
}
