import BluetoothBase

/// One element of advertising data: a type and its data (Core 5.4, Vol 3, Part C, 11).
public struct ADStructure: ~Escapable {
    public var type: ADType
    public var data: Span<UInt8>

    @inlinable @inline(__always)
    @_lifetime(copy data)
    public init(type: ADType, data: Span<UInt8>) {
        self.type = type
        self.data = data
    }
}

/// Reads the AD structures of advertising data one at a time, in place (Core 5.4, Vol 3, Part C, 11).
///
/// Any device can send advertising data, so nothing in it is an error: a length of 0 ends the data, as the
/// specification says, and so does a structure that runs past the end. The structures before that are kept.
public struct ADStructures: ~Escapable {
    @usableFromInline let bytes: Span<UInt8>
    @usableFromInline var offset = 0

    @inlinable @inline(__always)
    @_lifetime(copy bytes)
    public init(_ bytes: Span<UInt8>) {
        self.bytes = bytes
    }

    /// The next structure; nil after the last one.
    @inlinable @inline(__always)
    @_lifetime(copy self)
    @_lifetime(self: copy self)
    public mutating func next() -> ADStructure? {
        guard offset < bytes.count else { return nil }
        // The length counts the type and the data, but not itself.
        let length = Int(bytes[offset])
        let end = offset &+ 1 &+ length
        guard length > 0, end <= bytes.count else {
            offset = bytes.count
            return nil
        }
        let type = ADType(rawValue: bytes[offset &+ 1])
        let data = bytes.extracting((offset &+ 2)..<end)
        offset = end
        return ADStructure(type: type, data: data)
    }
}
