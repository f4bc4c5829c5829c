import BluetoothBase

/// The handle of an attribute on a server, 0x0001 to 0xFFFF; 0 is reserved (Core 5.4, Vol 3, Part F, 3.2.2).
public struct AttributeHandle: RawRepresentable, Hashable, Comparable, Sendable {
    /// The handle as a number, 0x0000 to 0xFFFF.
    public var rawValue: UInt16

    /// Creates a handle from its number. The reserved handle 0 is accepted.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Creates a handle from its number. The reserved handle 0 is accepted.
    @inlinable
    public init(_ rawValue: UInt16) { self.rawValue = rawValue }

    /// Whether the left handle precedes the right one in the attribute database.
    @inlinable
    public static func < (lhs: AttributeHandle, rhs: AttributeHandle) -> Bool { lhs.rawValue < rhs.rawValue }
}

extension AttributeHandle: ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// Creates a handle from a literal, such as `0x0003`.
    @inlinable
    public init(integerLiteral value: UInt16) { self.init(value) }

    /// Four hexadecimal digits after `0x`, such as `0x0003`.
    public var description: String { "0x" + hexadecimal(rawValue, digits: 4) }
}

extension ByteReader {
    /// Reads the two octets of an attribute handle, least significant first. Throws if fewer are left.
    @inlinable @inline(__always)
    @_lifetime(self: copy self)
    public mutating func readHandle() throws(DecodingFailure) -> AttributeHandle {
        AttributeHandle(try readUInt16())
    }
}

extension ByteWriter {
    /// Appends the two octets of an attribute handle, least significant first.
    @inlinable @inline(__always)
    public mutating func append(_ handle: AttributeHandle) { append(handle.rawValue) }
}

extension AttributeHandle {
    /// The handles from `start` to `end`, inclusive. Nil if `start` is 0 or greater than `end`: a server refuses a
    /// request with such a range with Invalid Handle (Vol 3, Part F, 3.4.3.1).
    @inlinable
    public static func range(from start: AttributeHandle, to end: AttributeHandle) -> ClosedRange<AttributeHandle>? {
        start.rawValue != 0 && start <= end ? start...end : nil
    }
}
