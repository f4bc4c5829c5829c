extension [UInt8]? {
    /// Stores octets, if possible in the memory of the present ones.
    ///
    /// That avoids an allocation, and a release on another thread. If the present octets are used elsewhere, they keep
    /// their memory. The new ones may occupy 64 octets, or twice their number.
    @inline(__always)
    mutating func overwrite(with octets: borrowing Span<UInt8>) {
        guard let capacity = self?.capacity, capacity <= max(64, 2 * octets.count) else {
            return self = Array(copy octets)
        }
        resize(to: octets.count)
        octets.withUnsafeBytes { octets in
            self?.withUnsafeMutableBytes { $0.copyMemory(from: octets) }
        }
    }

    @inline(__always)
    private mutating func resize(to newCount: Int) {
        guard let count = self?.count, count != newCount else { return }
        if count > newCount {
            self?.removeLast(count - newCount)
        } else {
            self?.append(contentsOf: repeatElement(0, count: newCount - count))
        }
    }
}
