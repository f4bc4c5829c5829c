import BluetoothBase

/// An element of advertising data, which consists of a type and data (Core 5.4, Vol 3, Part C, 11).
public struct ADStructure: ~Escapable {
    /// The AD type, which defines the content of `data`.
    public var type: ADType
    /// The AD data: 0 to 254 octets, without the length and the type.
    public var data: Span<UInt8>

    /// Creates a structure that borrows `data`.
    @inlinable @inline(__always)
    @_lifetime(copy data)
    public init(type: ADType, data: Span<UInt8>) {
        self.type = type
        self.data = data
    }
}

/// Reads the AD structures of advertising data one at a time, in place (Core 5.4, Vol 3, Part C, 11).
///
/// Any device can send any advertising data, so malformed data is not an error. As the specification states, a length
/// of 0 ends the data. A structure that extends past the end also ends it. The structures before that are kept.
public struct ADStructures: ~Escapable {
    @usableFromInline let bytes: Span<UInt8>
    @usableFromInline var offset = 0

    /// Creates an iterator over advertising data or scan response data.
    @inlinable @inline(__always)
    @_lifetime(copy bytes)
    public init(_ bytes: Span<UInt8>) {
        self.bytes = bytes
    }

    /// Returns the next structure, or nil after the last one.
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
