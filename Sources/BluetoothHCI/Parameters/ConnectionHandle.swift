import BluetoothBase

/// The number by which a controller identifies a connection: 12 bits, 0x0000 to 0x0EFF (Core 5.4, Vol 4, Part E,
/// 5.3.1).
public struct ConnectionHandle: RawRepresentable, Hashable, Sendable {
    /// The 12-bit handle. Handles from 0x0F00 are reserved.
    public let rawValue: UInt16

    /// Only the lower 12 bits of `rawValue` are used. In a packet, the bits above them are not part of the handle.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue & 0x0FFF }

    /// Only the lower 12 bits of `rawValue` are used.
    @inlinable
    public init(_ rawValue: UInt16) { self.init(rawValue: rawValue) }

    /// Whether a controller may use this handle. The values 0x0F00 to 0x0FFF are reserved.
    @inlinable
    public var isValid: Bool { rawValue <= 0x0EFF }
}

extension ConnectionHandle: HCIParameter {}

extension ConnectionHandle: ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// Creates a handle from a literal. Only the lower 12 bits are used.
    @inlinable
    public init(integerLiteral value: UInt16) { self.init(value) }

    /// The handle as four hexadecimal digits, such as `0x0040`.
    public var description: String { "0x" + hexadecimal(rawValue, digits: 4) }
}
