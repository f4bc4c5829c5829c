import BluetoothAdapter

/// An asynchronous sequence of what an adapter, a link or a service reports.
///
/// It begins when it is created, not at the first iteration, so nothing in between is lost. It ends when the last copy
/// of it and of its iterators is gone, or by throwing what ended its source. It does not retain its source: an adapter
/// closes when neither it nor an object from it, such as a `Connection`, is referenced. Its buffer is bounded; the call
/// that creates it says what happens if the consumer is too slow.
public struct EventSequence<Element: Sendable>: AsyncSequence, Sendable {
    public typealias Failure = BluetoothError

    let subscription: Subscription

    /// Ends the source's work for this sequence when no consumer is left.
    final class Subscription: Sendable {
        let queue: AsyncQueue<Element>
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

    /// How many elements were dropped because the buffer was full.
    public var droppedCount: Int { subscription.queue.droppedCount }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let subscription: Subscription

        // There are many values and sightings. Without specialisations for them, half of the cost of each would be generic
        // metadata lookups.

        /// The next element; nil once the source has ended without an error. Throws `.cancelled` when the task is
        /// cancelled.
        @_specialize(where Element == [UInt8])
        @_specialize(where Element == Sighting)
        public mutating func next() async throws(BluetoothError) -> Element? {
            try await subscription.queue.next()
        }

        /// As above; the caller keeps its isolation.
        @_specialize(where Element == [UInt8])
        @_specialize(where Element == Sighting)
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(BluetoothError) -> Element? {
            try await subscription.queue.next(isolation: actor)
        }
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(subscription: subscription)
    }
}
