import DequeModule

/// The consumers that wait for an element of an `AsyncQueue`, in order. Usually there is at most one, which costs no
/// array access.
struct QueueWaits<Continuation: Sendable>: Sendable {
    private struct Wait {
        let number: UInt64
        let continuation: Continuation
    }

    private var first: Wait?
    /// Empty if `first` is nil.
    private var others = Deque<Wait>()

    var isEmpty: Bool { first == nil }
    var count: Int { first == nil ? 0 : 1 + others.count }

    @inline(__always)
    mutating func append(_ number: UInt64, _ continuation: Continuation) {
        let wait = Wait(number: number, continuation: continuation)
        if first == nil { first = wait } else { others.append(wait) }
    }

    @inline(__always)
    mutating func popFirst() -> Continuation? {
        let wait = first
        first = others.isEmpty ? nil : others.popFirst()
        return wait?.continuation
    }

    /// Removes the consumer with this number.
    mutating func remove(_ number: UInt64) -> Continuation? {
        if first?.number == number { return popFirst() }
        return others.firstIndex { $0.number == number }.map { others.remove(at: $0).continuation }
    }
}
