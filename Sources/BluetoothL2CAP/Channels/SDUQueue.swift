/// The SDUs that wait on a channel, oldest first.
///
/// Each SDU stays in the array that its sender provided, so its octets are copied only into K-frames.
public struct SDUQueue: Sendable {
    // A type with a method, because the span of an array cannot be taken from an element of another one.
    @usableFromInline
    struct SDU: Sendable {
        @usableFromInline let octets: [UInt8]

        @inlinable
        init(_ octets: consuming [UInt8]) { self.octets = octets }

        @inlinable @inline(__always)
        func withOctets<Result>(_ body: (Span<UInt8>) -> Result) -> Result { body(octets.span) }
    }

    /// A ring buffer, whose size is a power of two. Unused places have no octets.
    @usableFromInline var ring = [SDU([])]
    @usableFromInline var head = 0
    @usableFromInline var storedCount = 0

    /// Creates an empty queue.
    @inlinable
    init() {}

    /// The number of SDUs.
    @inlinable @inline(__always)
    public var count: Int { storedCount }

    /// Whether there are no SDUs.
    @inlinable @inline(__always)
    var isEmpty: Bool { storedCount == 0 }

    /// The length of the oldest SDU, in octets. The queue must not be empty.
    @inlinable @inline(__always)
    var firstLength: Int { ring[head].octets.count }

    /// Calls `body` with the octets of the oldest SDU. The queue must not be empty.
    @inlinable @inline(__always)
    func withFirst<Result>(_ body: (Span<UInt8>) -> Result) -> Result { ring[head].withOctets(body) }

    /// Calls `body` with the octets of an SDU, counted from the oldest. `index` must be less than `count`.
    public func withPacket<Result>(at index: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        precondition(index >= 0 && index < storedCount)
        return ring[(head &+ index) & (ring.count &- 1)].withOctets(body)
    }

    /// Adds an SDU.
    @inlinable
    mutating func append(_ sdu: consuming [UInt8]) {
        if storedCount == ring.count { grow() }
        ring[(head &+ storedCount) & (ring.count &- 1)] = SDU(sdu)
        storedCount &+= 1
    }

    /// Removes the oldest SDU, if there is one.
    @inlinable
    public mutating func removeFirst() {
        guard storedCount > 0 else { return }
        ring[head] = SDU([])
        head = (head &+ 1) & (ring.count &- 1)
        storedCount &-= 1
    }

    @usableFromInline @inline(never)
    mutating func grow() {
        ring = Array(ring[head...] + ring[..<head]) + Array(repeating: SDU([]), count: ring.count)
        head = 0
    }
}
