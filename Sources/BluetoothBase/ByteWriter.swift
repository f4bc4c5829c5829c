/// Appends little-endian fields to a buffer that keeps its memory. In a steady state, writing allocates nothing, and
/// emptying the buffer costs nothing.
public struct ByteWriter: Sendable {
    /// The written bytes, followed by unused space. The array only grows when that space is used up: appending to an
    /// array field by field costs several times as much as storing into it.
    @usableFromInline var storage: [UInt8]
    /// The number of bytes written.
    public var count: Int { @inlinable @inline(__always) get { written } }
    @usableFromInline var written = 0

    /// Creates an empty buffer with room for `capacity` bytes. It grows when that room is used up.
    @inlinable
    public init(reservingCapacity capacity: Int = 0) {
        storage = Array(repeating: 0, count: capacity)
    }

    /// A copy of the written bytes.
    public var bytes: [UInt8] { Array(storage.prefix(count)) }

    /// The written bytes, in place.
    @inlinable
    public var span: Span<UInt8> {
        @_lifetime(borrow self)
        get { storage.span.extracting(first: count) }
    }

    /// Whether no bytes have been written since the buffer was created or emptied.
    @inlinable
    public var isEmpty: Bool { count == 0 }

    /// One of the written bytes.
    @inlinable
    public subscript(offset: Int) -> UInt8 {
        precondition(offset < count)
        return storage[offset]
    }

    // MARK: - Appending

    /// Appends one octet.
    @inlinable @inline(__always)
    public mutating func append(_ value: UInt8) {
        makeRoom(for: 1)
        storage[written] = value
        written &+= 1
    }

    /// Appends one octet that represents a signed integer in two's complement.
    @inlinable @inline(__always)
    public mutating func append(_ value: Int8) {
        append(UInt8(bitPattern: value))
    }

    /// Appends all octets of an integer, in little-endian order.
    @inlinable @inline(__always)
    public mutating func append<Value: FixedWidthInteger>(_ value: Value) {
        makeRoom(for: MemoryLayout<Value>.size)
        let offset = count
        storage.withUnsafeMutableBytes { room in
            room.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
        }
        written &+= MemoryLayout<Value>.size
    }

    /// Appends the `byteCount` least significant octets of `value` (1 to 8), in little-endian order.
    @inlinable
    public mutating func append(_ value: UInt64, byteCount: Int) {
        for index in 0..<byteCount {
            append(UInt8(truncatingIfNeeded: value >> UInt64(8 &* index)))
        }
    }

    /// Appends a copy of the bytes.
    @inlinable @inline(__always)
    public mutating func append(_ value: Span<UInt8>) {
        makeRoom(for: value.count)
        let offset = count
        storage.withUnsafeMutableBytes { room in
            value.withUnsafeBytes { source in
                guard let room = room.baseAddress, let start = source.baseAddress else { return }
                (room + offset).copyMemory(from: start, byteCount: value.count)
            }
        }
        written &+= value.count
    }

    /// Appends a copy of the bytes.
    @inlinable
    public mutating func append(_ value: [UInt8]) {
        value.withUnsafeBytes { append(copying: $0) }
    }

    /// Appends the `byteCount` least significant octets of `head` (1 to 8), in little-endian order, followed by `tail`.
    /// For a short header and its contents: both together cost no more than one of them.
    @inlinable @inline(__always)
    public mutating func append(_ head: UInt64, byteCount: Int, then tail: Span<UInt8>) {
        precondition(byteCount <= MemoryLayout<UInt64>.size)
        makeRoom(for: MemoryLayout<UInt64>.size &+ tail.count)
        let offset = count
        storage.withUnsafeMutableBytes { room in
            // All eight octets are stored, and `tail` overwrites the excess ones.
            room.storeBytes(of: head.littleEndian, toByteOffset: offset, as: UInt64.self)
            tail.withUnsafeBytes { tail in
                guard let room = room.baseAddress, let start = tail.baseAddress else { return }
                (room + offset + byteCount).copyMemory(from: start, byteCount: tail.count)
            }
        }
        written &+= byteCount &+ tail.count
    }

    /// Appends two integers, a third one unless it is nil, and a copy of the bytes: together they cost no more than one
    /// of them.
    @inlinable @inline(__always)
    public mutating func append<First: FixedWidthInteger, Second: FixedWidthInteger, Third: FixedWidthInteger>(
        _ first: First, _ second: Second, _ third: Third?, then tail: Span<UInt8>
    ) {
        let startOfSecond = MemoryLayout<First>.size
        let startOfThird = startOfSecond &+ MemoryLayout<Second>.size
        let head = third == nil ? startOfThird : startOfThird &+ MemoryLayout<Third>.size
        makeRoom(for: head &+ tail.count)
        let offset = count
        storage.withUnsafeMutableBytes { room in
            room.storeBytes(of: first.littleEndian, toByteOffset: offset, as: First.self)
            room.storeBytes(of: second.littleEndian, toByteOffset: offset &+ startOfSecond, as: Second.self)
            if let third {
                room.storeBytes(of: third.littleEndian, toByteOffset: offset &+ startOfThird, as: Third.self)
            }
            tail.withUnsafeBytes { tail in
                guard let room = room.baseAddress, let start = tail.baseAddress else { return }
                (room + offset + head).copyMemory(from: start, byteCount: tail.count)
            }
        }
        written &+= head &+ tail.count
    }

    /// Leaves room for `byteCount` octets. The caller must overwrite all of them; until then their values are
    /// undefined.
    @inlinable @inline(__always)
    public mutating func leaveRoom(for byteCount: Int) {
        makeRoom(for: byteCount)
        written &+= byteCount
    }

    /// Appends `count` copies of a byte.
    @inlinable
    public mutating func append(repeating value: UInt8, count: Int) {
        for _ in 0..<count { append(value) }
    }

    @inlinable @inline(__always)
    mutating func append(copying source: UnsafeRawBufferPointer) {
        makeRoom(for: source.count)
        let offset = count
        storage.withUnsafeMutableBytes { room in
            guard let room = room.baseAddress, let start = source.baseAddress else { return }
            (room + offset).copyMemory(from: start, byteCount: source.count)
        }
        written &+= source.count
    }

    @inlinable @inline(__always)
    mutating func makeRoom(for needed: Int) {
        if storage.count &- count < needed { grow(by: needed) }
    }

    @usableFromInline @inline(never)
    mutating func grow(by needed: Int) {
        let capacity = max(count + needed, 2 * storage.count, 32)
        storage.append(contentsOf: repeatElement(0, count: capacity - storage.count))
    }

    // MARK: - Overwriting and removing

    /// Overwrites octets already written with an integer, in little-endian order. For a length that is known only after
    /// its contents have been written.
    @inlinable @inline(__always)
    public mutating func overwrite<Value: FixedWidthInteger>(_ value: Value, at offset: Int) {
        precondition(offset >= 0 && offset <= count &- MemoryLayout<Value>.size)
        storage.withUnsafeMutableBytes { room in
            room.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
        }
    }

    /// Overwrites octets with two consecutive integers, for the cost of one.
    @inlinable @inline(__always)
    public mutating func overwrite<First: FixedWidthInteger, Second: FixedWidthInteger>(
        _ first: First, then second: Second, at offset: Int
    ) {
        let middle = offset &+ MemoryLayout<First>.size
        precondition(offset >= 0 && middle <= count &- MemoryLayout<Second>.size)
        storage.withUnsafeMutableBytes { room in
            room.storeBytes(of: first.littleEndian, toByteOffset: offset, as: First.self)
            room.storeBytes(of: second.littleEndian, toByteOffset: middle, as: Second.self)
        }
    }

    /// Overwrites octets with three consecutive integers.
    @inlinable @inline(__always)
    public mutating func overwrite<First: FixedWidthInteger, Second: FixedWidthInteger, Third: FixedWidthInteger>(
        _ first: First, then second: Second, _ third: Third, at offset: Int
    ) {
        let middle = offset &+ MemoryLayout<First>.size
        let end = middle &+ MemoryLayout<Second>.size
        precondition(offset >= 0 && end <= count &- MemoryLayout<Third>.size)
        storage.withUnsafeMutableBytes { room in
            room.storeBytes(of: first.littleEndian, toByteOffset: offset, as: First.self)
            room.storeBytes(of: second.littleEndian, toByteOffset: middle, as: Second.self)
            room.storeBytes(of: third.littleEndian, toByteOffset: end, as: Third.self)
        }
    }

    /// Drops everything written after the first `count` bytes.
    @inlinable @inline(__always)
    public mutating func truncate(to count: Int) {
        precondition(count >= 0 && count <= self.count)
        written = count
    }

    /// Drops the first `count` bytes; the rest moves to the front.
    public mutating func removeFirst(_ count: Int) {
        precondition(count >= 0 && count <= self.count)
        let rest = self.count - count
        storage.withUnsafeMutableBytes { room in
            guard let room = room.baseAddress, rest > 0 else { return }
            room.copyMemory(from: room + count, byteCount: rest)
        }
        written = rest
    }

    /// Drops all written bytes. The buffer keeps its memory.
    @inlinable @inline(__always)
    public mutating func removeAll() {
        written = 0
    }
}

extension Array where Element == UInt8 {
    /// A copy of a span's bytes.
    @inlinable
    public init(_ span: Span<UInt8>) {
        self = span.withUnsafeBufferPointer { Array($0) }
    }
}
