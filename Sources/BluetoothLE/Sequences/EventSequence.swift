import BluetoothAdapter

/// An asynchronous sequence of the events of an adapter, a link or a service.
///
/// It begins when it is created, not at the first iteration, so nothing in between is lost. It ends when the last copy
/// of it and of its iterators is released, or by throwing the error that ended its source. It does not retain its
/// source: an adapter closes when neither it nor an object from it, such as a `Connection`, is referenced. Its buffer
/// is bounded. The call that creates it documents what happens if the consumer is too slow.
public struct EventSequence<Element: Sendable>: AsyncSequence, Sendable {
    /// The error type: the error that ended the source, `.overflow`, `.dataLost`, or `.cancelled`.
    public typealias Failure = BluetoothError

    @usableFromInline let subscription: Subscription

    /// Ends the source's work for this sequence when no consumer is left.
    @usableFromInline
    final class Subscription: Sendable {
        @usableFromInline let queue: AsyncQueue<Element>
        private let onEnd: @Sendable () -> Void

        init(_ queue: AsyncQueue<Element>, onEnd: @escaping @Sendable () -> Void) {
            self.queue = queue
            self.onEnd = onEnd
        }

        deinit {
            onEnd()
            queue.abandon()
        }
    }

    init(_ queue: AsyncQueue<Element>, onEnd: @escaping @Sendable () -> Void) {
        subscription = Subscription(queue, onEnd: onEnd)
    }

    /// The number of elements that were dropped because the buffer was full.
    public var droppedCount: Int { subscription.queue.droppedCount }

    /// Takes elements from the buffer of the sequence. It keeps the sequence from ending, like a copy of it.
    public struct AsyncIterator: AsyncIteratorProtocol {
        @usableFromInline let subscription: Subscription

        @inlinable
        init(subscription: Subscription) { self.subscription = subscription }

        /// The next element; nil once the source has ended without an error. Throws `.cancelled` when the task is
        /// cancelled.
        @inlinable
        @inline(__always)
        public mutating func next() async throws(BluetoothError) -> Element? {
            try await subscription.queue.next()
        }

        /// See `next()`. The caller keeps its isolation.
        @inlinable
        @inline(__always)
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(BluetoothError) -> Element? {
            try await subscription.queue.next(isolation: actor)
        }
    }

    /// Creates an iterator over the elements that no iterator has returned yet. Each element goes to only one iterator.
    @inlinable
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(subscription: subscription)
    }
}
