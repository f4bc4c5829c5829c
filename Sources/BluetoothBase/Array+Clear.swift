extension Array {
    /// Removes all elements but keeps the memory, for an array that usually has one: removing it alone costs less than
    /// destroying a range.
    @inlinable @inline(__always)
    package mutating func clear() {
        if count == 1 { _ = popLast() } else { removeAll(keepingCapacity: true) }
    }
}
