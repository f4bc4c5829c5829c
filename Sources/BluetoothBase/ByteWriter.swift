/// Appends little-endian fields to a buffer that keeps its capacity, so that in a steady state writing allocates
/// nothing.
public struct ByteWriter: Sendable {
    /// What has been written.
    public var bytes: [UInt8]

    @inlinable
    public init(reservingCapacity capacity: Int = 0) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// How many bytes have been written.
    @inlinable @inline(__always)
    public var count: Int { bytes.count }

    @inlinable @inline(__always)
    public mutating func append(_ value: UInt8) {
        bytes.append(value)
    }

    @inlinable @inline(__always)
    public mutating func append(_ value: Int8) {
        bytes.append(UInt8(bitPattern: value))
    }

    /// Appends an integer in little-endian order, all its octets.
    @inlinable @inline(__always)
    public mutating func append<Value: FixedWidthInteger>(_ value: Value) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends the `byteCount` least significant octets of `value` (1 to 8), in little-endian order.
    @inlinable
    public mutating func append(_ value: UInt64, byteCount: Int) {
        for index in 0..<byteCount {
            bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(8 &* index)))
        }
    }

    @inlinable @inline(__always)
    public mutating func append(_ value: Span<UInt8>) {
        value.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
    }

    @inlinable @inline(__always)
    public mutating func append(_ value: [UInt8]) {
        bytes.append(contentsOf: value)
    }

    /// Overwrites two octets already written: for a length that is known only after what it counts.
    @inlinable @inline(__always)
    public mutating func overwrite(_ value: UInt16, at offset: Int) {
        bytes[offset] = UInt8(truncatingIfNeeded: value)
        bytes[offset &+ 1] = UInt8(truncatingIfNeeded: value >> 8)
    }

    /// Overwrites one octet already written.
    @inlinable @inline(__always)
    public mutating func overwrite(_ value: UInt8, at offset: Int) {
        bytes[offset] = value
    }

    /// Drops what was written from `count` bytes on.
    @inlinable @inline(__always)
    public mutating func truncate(to count: Int) {
        bytes.removeLast(bytes.count &- count)
    }

    @inlinable @inline(__always)
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }
}

extension Array where Element == UInt8 {
    /// A copy of the bytes a span shows.
    @inlinable
    public init(_ span: Span<UInt8>) {
        self = span.withUnsafeBufferPointer { Array($0) }
    }
}
