import BluetoothBase

/// A first-in, first-out queue of bytes that reuses the memory of removed bytes even if it never runs empty.
struct PendingBytes {
    private var bytes: [UInt8] = []
    private var taken = 0

    var isEmpty: Bool { taken == bytes.count }

    /// The number of pending bytes.
    var count: Int { bytes.count - taken }

    /// Calls `body` with the pending bytes, oldest first.
    func withBytes<Result, Failure>(_ body: (Span<UInt8>) throws(Failure) -> Result) throws(Failure) -> Result {
        try body(bytes.span.extracting(taken..<bytes.count))
    }

    mutating func append(_ span: Span<UInt8>) {
        // Moving at most as many bytes as were removed before keeps the cost per byte constant.
        if taken > 4096, taken >= count {
            bytes.removeSubrange(0..<taken)
            taken = 0
        }
        span.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
    }

    /// Removes the oldest bytes.
    mutating func removeFirst(_ count: Int) {
        taken += min(count, self.count)
        if taken == bytes.count { removeAll() }
    }

    /// Removes all bytes but keeps the memory.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        taken = 0
    }
}
