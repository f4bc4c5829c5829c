import BluetoothBase

/// The number by which a controller identifies a connection: 12 bits, 0x0000 to 0x0EFF (Core 5.4, Vol 4, Part E,
/// 5.3.1).
public struct ConnectionHandle: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt16

    /// Only the lower 12 bits of `rawValue` count; the bits above them in a packet are not part of the handle.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue & 0x0FFF }

    /// Only the lower 12 bits of `rawValue` count.
    @inlinable
    public init(_ rawValue: UInt16) { self.init(rawValue: rawValue) }

    /// Whether a controller may use this handle: 0x0F00 to 0x0FFF are reserved.
    @inlinable
    public var isValid: Bool { rawValue <= 0x0EFF }
}

extension ConnectionHandle: HCIParameter {}

extension ConnectionHandle: ExpressibleByIntegerLiteral, CustomStringConvertible {
    @inlinable
    public init(integerLiteral value: UInt16) { self.init(value) }

    public var description: String { "0x" + hexadecimal(rawValue, digits: 4) }
}
