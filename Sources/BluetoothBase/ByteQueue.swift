/// A first-in, first-out queue of bytes that reuses the memory of removed bytes even if it never runs empty.
package struct ByteQueue {
    private var bytes: [UInt8] = []
    private var taken = 0

    package init() {}

    /// Whether the queue has no bytes.
    package var isEmpty: Bool { taken == bytes.count }

    /// The number of bytes in the queue.
    package var count: Int { bytes.count - taken }

    /// Calls `body` with the bytes of the queue, oldest first.
    package func withBytes<Result, Failure>(_ body: (Span<UInt8>) throws(Failure) -> Result) throws(Failure) -> Result {
        try body(bytes.span.extracting(taken..<bytes.count))
    }

    /// Appends a copy of the bytes.
    package mutating func append(_ span: Span<UInt8>) {
        // Moving at most as many bytes as were removed before keeps the cost per byte constant.
        if taken > 4096, taken >= count {
            bytes.removeSubrange(0..<taken)
            taken = 0
        }
        span.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
    }

    /// Removes the oldest bytes.
    package mutating func removeFirst(_ count: Int) {
        taken += min(count, self.count)
        if taken == bytes.count { removeAll() }
    }

    /// Removes all bytes but keeps the memory.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        taken = 0
    }
}
