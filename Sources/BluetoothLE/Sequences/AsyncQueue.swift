import DequeModule
import Synchronization

/// The meeting point of one producer and the consumers of an asynchronous sequence: a bounded buffer, an end that is
/// told exactly once to each consumer, and waits that end when their task is cancelled.
final class AsyncQueue<Element: Sendable>: Sendable {
    /// What happens to an element that does not fit.
    enum Overflow: Sendable {
        /// The oldest element is forgotten: for news that outdates itself.
        case dropOldest
        /// The new element is forgotten: for what its sender does not rely on.
        case dropNewest
        /// The sequence ends with `BluetoothError.overflow`: for data of which no part may be missing.
        case fail
    }

    private typealias Outcome = Result<Element?, BluetoothError>
    private typealias Waiter = CheckedContinuation<Outcome, Never>

    private struct State {
        var buffer = Deque<Element>()
        var waiters: [(number: UInt64, continuation: Waiter)] = []
        var lastWaiter: UInt64 = 0
        var end: Outcome?
    }

    private let state = Mutex(State())
    private let capacity: Int
    private let overflow: Overflow

    init(capacity: Int, overflow: Overflow) {
        self.capacity = capacity
        self.overflow = overflow
    }

    /// Hands an element to who waits longest, or keeps it. False where it was given up.
    @discardableResult
    func push(_ element: Element) -> Bool {
        let (isTaken, waiter) = state.withLock { state -> (Bool, Waiter?) in
            guard state.end == nil else { return (false, nil) }
            if !state.waiters.isEmpty { return (true, state.waiters.removeFirst().continuation) }
            if state.buffer.count == capacity {
                switch overflow {
                case .dropNewest: return (false, nil)
                case .dropOldest: state.buffer.removeFirst()
                case .fail:
                    state.end = .failure(.overflow)
                    return (false, nil)
                }
            }
            state.buffer.append(element)
            return (true, nil)
        }
        waiter?.resume(returning: .success(element))
        return isTaken
    }

    /// Ends the sequence once what is buffered has been taken. Only the first end counts.
    func finish(_ error: BluetoothError? = nil) {
        let end: Outcome = error.map { .failure($0) } ?? .success(nil)
        let waiters = state.withLock { state -> [Waiter] in
            guard state.end == nil else { return [] }
            state.end = end
            defer { state.waiters = [] }
            return state.waiters.map(\.continuation)
        }
        for waiter in waiters { waiter.resume(returning: end) }
    }

    /// The next element; nil at the end. Throws `.cancelled` when the task is cancelled.
    func next() async throws(BluetoothError) -> Element? {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: Waiter) in
                let ready = state.withLock { state -> Outcome? in
                    if let element = state.buffer.popFirst() { return .success(element) }
                    if let end = state.end { return end }
                    // The handler below may have run before there was anything to cancel.
                    if Task.isCancelled { return .failure(.cancelled) }
                    state.waiters.append((number, continuation))
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            cancel(number)
        }
        return try outcome.get()
    }

    private func cancel(_ number: UInt64) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
            return state.waiters.remove(at: index).continuation
        }
        waiter?.resume(returning: .failure(.cancelled))
    }
}
