/// Reads little-endian fields from a span in order, never past its end.
///
/// Bluetooth sends multi-octet fields least significant octet first (Core 5.4, Vol 3, Part F, 3.3.1 and Vol 4,
/// Part E, 5.2).
public struct ByteReader: ~Escapable {
    /// All bytes, including those already read.
    public let bytes: Span<UInt8>
    /// The index of the next byte to read.
    public var offset: Int

    /// Creates a reader that starts at the first byte, and refers to the memory of `bytes`.
    @inlinable @inline(__always)
    @_lifetime(copy bytes)
    public init(_ bytes: Span<UInt8>) {
        self.bytes = bytes
        self.offset = 0
    }

    /// The number of bytes that have not been read yet.
    @inlinable @inline(__always)
    public var remaining: Int { bytes.count &- offset }

    /// Reads one octet. Throws if none is left.
    @inlinable @inline(__always)
    @_lifetime(self: copy self)
    public mutating func readUInt8() throws(DecodingFailure) -> UInt8 {
        guard remaining >= 1 else { throw truncated(1) }
        defer { offset &+= 1 }
        return bytes[offset]
    }

    /// Reads one octet as a signed integer in two's complement. Throws if none is left.
    @inlinable @inline(__always)
    @_lifetime(self: copy self)
    public mutating func readInt8() throws(DecodingFailure) -> Int8 {
        Int8(bitPattern: try readUInt8())
    }

    /// Reads two octets, least significant first. Throws if fewer are left.
    @inlinable @inline(__always)
    @_lifetime(self: copy self)
    public mutating func readUInt16() throws(DecodingFailure) -> UInt16 {
        guard remaining >= 2 else { throw truncated(2) }
        defer { offset &+= 2 }
        return UInt16(bytes[offset]) | UInt16(bytes[offset &+ 1]) << 8
    }

    /// Reads three octets, least significant first. Throws if fewer are left.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func readUInt24() throws(DecodingFailure) -> UInt32 {
        UInt32(truncatingIfNeeded: try readLittleEndian(byteCount: 3))
    }

    /// Reads four octets, least significant first. Throws if fewer are left.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func readUInt32() throws(DecodingFailure) -> UInt32 {
        UInt32(truncatingIfNeeded: try readLittleEndian(byteCount: 4))
    }

    /// Reads eight octets, least significant first. Throws if fewer are left.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func readUInt64() throws(DecodingFailure) -> UInt64 {
        try readLittleEndian(byteCount: 8)
    }

    /// Reads an unsigned integer of 1 to 8 octets.
    @inlinable @inline(__always)
    @_lifetime(self: copy self)
    public mutating func readLittleEndian(byteCount: Int) throws(DecodingFailure) -> UInt64 {
        precondition((1...8).contains(byteCount))
        guard remaining >= byteCount else { throw truncated(byteCount) }
        var value: UInt64 = 0
        for index in 0..<byteCount {
            value |= UInt64(bytes[offset &+ index]) << UInt64(8 &* index)
        }
        offset &+= byteCount
        return value
    }

    /// Reads the next `count` bytes as a view of the same memory.
    @inlinable @inline(__always)
    @_lifetime(copy self)
    @_lifetime(self: copy self)
    public mutating func readBytes(_ count: Int) throws(DecodingFailure) -> Span<UInt8> {
        guard count >= 0 else { throw DecodingFailure(.invalidLength, at: offset) }
        guard remaining >= count else { throw truncated(count) }
        let start = offset
        offset &+= count
        return bytes.extracting(start..<(start &+ count))
    }

    /// Reads the rest as a view of the same memory.
    @inlinable @inline(__always)
    @_lifetime(copy self)
    @_lifetime(self: copy self)
    public mutating func readRemaining() -> Span<UInt8> {
        let start = offset
        offset = bytes.count
        return bytes.extracting(start..<bytes.count)
    }

    /// Throws unless every byte has been read. For layouts of a fixed length.
    @inlinable @inline(__always)
    public func finish() throws(DecodingFailure) {
        guard remaining == 0 else { throw DecodingFailure(.trailingBytes(count: remaining), at: offset) }
    }

    @inlinable
    func truncated(_ needed: Int) -> DecodingFailure {
        DecodingFailure(.truncated(missing: needed &- remaining), at: bytes.count)
    }
}
