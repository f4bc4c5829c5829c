import BluetoothAdapter

/// An asynchronous sequence of what an adapter, a link or a service reports.
///
/// It begins when it is made, not when it is first asked, so nothing that happens in between is lost. It ends when the
/// last copy of it and of its iterators is gone, or by throwing what ended its source. It does not keep its source: an
/// adapter that nobody holds, nor anything of it such as a `Connection`, is closed. Its buffer is bounded; what happens
/// when the consumer is too slow is said where the sequence is made.
public struct EventSequence<Element: Sendable>: AsyncSequence, Sendable {
    public typealias Failure = BluetoothError

    let subscription: Subscription

    /// Ends the source's work for this sequence when nobody can consume it any more.
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

    /// How many elements were given up because the buffer was full.
    public var droppedCount: Int { subscription.queue.droppedCount }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let subscription: Subscription

        /// The next element; nil once the source has ended in good order. Throws `.cancelled` when the task is cancelled.
        @_specialize(where Element == [UInt8])
        public mutating func next() async throws(BluetoothError) -> Element? {
            try await subscription.queue.next()
        }

        /// As above; the caller stays where it is isolated.
        @_specialize(where Element == [UInt8])
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
