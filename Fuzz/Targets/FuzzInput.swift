import BluetoothBase

/// A fuzzer's bytes as a script: numbers for choices, and pieces of data. It never runs out: missing numbers read as
/// zero, and missing data as empty.
struct FuzzInput: ~Escapable {
    private var reader: ByteReader

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>) {
        reader = ByteReader(bytes)
    }

    var isEmpty: Bool { reader.remaining == 0 }

    @_lifetime(self: copy self)
    mutating func byte() -> UInt8 { (try? reader.readUInt8()) ?? 0 }

    /// A number from 0 to below `count`.
    @_lifetime(self: copy self)
    mutating func choice(of count: Int) -> Int { Int(byte()) % count }

    @_lifetime(self: copy self)
    mutating func word() -> UInt16 { UInt16(byte()) | UInt16(byte()) << 8 }

    /// A piece of data, preceded by its length: one octet, or two for 240 octets and more.
    @_lifetime(copy self)
    @_lifetime(self: copy self)
    mutating func chunk() -> Span<UInt8> {
        var length = Int(byte())
        if length >= 0xF0 { length = (length & 0x0F) << 8 | Int(byte()) }
        let count = min(length, reader.remaining)
        let start = reader.offset
        reader.offset += count
        return reader.bytes.extracting(start..<reader.offset)
    }

    /// All remaining bytes.
    @_lifetime(copy self)
    @_lifetime(self: copy self)
    mutating func rest() -> Span<UInt8> { reader.readRemaining() }
}

extension [UInt8] {
    /// The bytes as `FuzzInput.chunk` reads them, truncated to the longest piece it can read.
    var asChunk: [UInt8] {
        let bytes = prefix(0xFFF)
        return
            (bytes.count < 0xF0 ? [UInt8(bytes.count)] : [0xF0 | UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)])
            + bytes
    }
}
