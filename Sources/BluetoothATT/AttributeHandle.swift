import BluetoothBase

/// The handle of an attribute on a server, 0x0001 to 0xFFFF; 0 is reserved (Core 5.4, Vol 3, Part F, 3.2.2).
public struct AttributeHandle: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt16

    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    @inlinable
    public init(_ rawValue: UInt16) { self.rawValue = rawValue }

    @inlinable
    public static func < (lhs: AttributeHandle, rhs: AttributeHandle) -> Bool { lhs.rawValue < rhs.rawValue }
}

extension AttributeHandle: ExpressibleByIntegerLiteral, CustomStringConvertible {
    @inlinable
    public init(integerLiteral value: UInt16) { self.init(value) }

    public var description: String { "0x" + hexadecimal(rawValue, digits: 4) }
}

extension ByteReader {
    @inlinable @inline(__always)
    @_lifetime(self: copy self)
    public mutating func readHandle() throws(DecodingFailure) -> AttributeHandle {
        AttributeHandle(try readUInt16())
    }
}

extension ByteWriter {
    @inlinable @inline(__always)
    public mutating func append(_ handle: AttributeHandle) { append(handle.rawValue) }
}

extension AttributeHandle {
    /// The handles from `start` to `end`, both included; nil if a request may not contain them because `start` is 0 or
    /// greater than `end`. A server refuses such a request with Invalid Handle (Vol 3, Part F, 3.4.3.1).
    @inlinable
    public static func range(from start: AttributeHandle, to end: AttributeHandle) -> ClosedRange<AttributeHandle>? {
        start.rawValue != 0 && start <= end ? start...end : nil
    }
}
