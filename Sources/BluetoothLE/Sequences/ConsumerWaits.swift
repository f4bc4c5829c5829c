import DequeModule
import Synchronization

/// The consumers that wait for the next element of an `AsyncQueue`.
///
/// It is not generic, because most of the cost of a value is the wait for it, and unspecialized code looks up its types
/// each time.
@usableFromInline
final class ConsumerWaits: Sendable {
    // Unsafe, because a checked one allocates for each value. Resuming one requires taking it out of `waits` first, so
    // each is resumed once.
    @usableFromInline typealias Continuation = UnsafeContinuation<Void, Never>

    private let waits = Mutex(Deque<(number: UInt64, continuation: Continuation)>())
    private let lastNumber = Atomic<UInt64>(0)
    private let changeCount = Atomic<UInt64>(0)

    /// Changes with each element, loss and end.
    var changes: UInt64 { changeCount.load(ordering: .acquiring) }

    /// The number of consumers that wait.
    var count: Int { waits.withLock { $0.count } }

    /// Suspends the task until `changes` has changed, or the task is cancelled. Another consumer may take the element
    /// first, so the caller must check again.
    // Compiled into the caller, because each asynchronous call costs some 400 instructions.
    @inlinable
    @inline(__always)
    func wait(after changes: UInt64, isolation actor: isolated (any Actor)?) async {
        let number = makeNumber()
        await withTaskCancellationHandler(
            operation: {
                await withUnsafeContinuation(isolation: actor) { begin($0, number, after: changes) }
            }, onCancel: { cancel(number) }, isolation: actor)
    }

    /// Returns the number of a new wait.
    @usableFromInline
    func makeNumber() -> UInt64 { lastNumber.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Begins a wait, or resumes the task at once if there is nothing to wait for.
    @usableFromInline
    func begin(_ continuation: Continuation, _ number: UInt64, after changes: UInt64) {
        let hasBegun = waits.withLock { waits in
            // The handler of the cancellation may have run before the wait began.
            guard changeCount.load(ordering: .relaxed) == changes, !Task.isCancelled else { return false }
            waits.append((number, continuation))
            return true
        }
        if !hasBegun { continuation.resume() }
    }

    /// Ends the longest waits, up to a number of them.
    func end(_ count: Int = 1) {
        // One change for all: a second one could end the next wait of the consumer that the first one woke.
        let (first, others) = waits.withLock { waits in
            changeCount.wrappingAdd(1, ordering: .releasing)
            let first = waits.popFirst()
            var others: [Continuation] = []
            while others.count + 1 < count, let next = waits.popFirst() { others.append(next.continuation) }
            return (first, others)
        }
        first?.continuation.resume()
        for other in others { other.resume() }
    }

    /// Ends every wait.
    func endAll() {
        let all = waits.withLock { waits in
            changeCount.wrappingAdd(1, ordering: .releasing)
            defer { waits = [] }
            return waits
        }
        for wait in all { wait.continuation.resume() }
    }

    /// Ends a wait because its task was cancelled.
    @usableFromInline
    func cancel(_ number: UInt64) {
        let cancelled = waits.withLock { waits in
            waits.firstIndex { $0.number == number }.map { waits.remove(at: $0) }
        }
        cancelled?.continuation.resume()
    }
}
