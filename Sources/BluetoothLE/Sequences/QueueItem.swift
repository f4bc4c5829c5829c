import Synchronization

/// What a consumer gets from an `AsyncQueue` when it waits.
@usableFromInline
enum QueueItem<Element: Sendable>: Sendable {
    case element(Element)
    case end(QueueEnd)
}

/// What a consumer finds in an `AsyncQueue`.
// Without the element: a function that returns one in an enum looks up its type.
@usableFromInline
enum QueueFinding: Sendable {
    case element
    case end(QueueEnd)
}

/// Why there is no element for a consumer.
@usableFromInline
enum QueueEnd: Sendable {
    /// The sequence has ended without an error.
    case over
    /// The error that ended the sequence, a loss, or a cancellation.
    case failure(BluetoothError)
}

/// The wait of one consumer of an `AsyncQueue`.
@usableFromInline
struct QueueWait: ~Copyable, Sendable {
    let number: UInt64
    private let cancelled = Atomic(false)

    init(number: UInt64) { self.number = number }

    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    /// Cancels the wait. It must not begin at the same time.
    func cancel() { cancelled.store(true, ordering: .relaxed) }
}
