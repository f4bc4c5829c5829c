import BluetoothBase

/// The identifier (CID) of a channel endpoint on a device (Core 5.4, Vol 3, Part A, 2.1).
public struct ChannelIdentifier: RawRepresentable, Hashable, Sendable {
    /// The identifier as a number. 0 is the null identifier, which no channel has.
    public var rawValue: UInt16

    /// Creates an identifier from its number. Every value is accepted.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Creates an identifier from its number. Every value is accepted.
    @inlinable
    public init(_ rawValue: UInt16) { self.rawValue = rawValue }

    /// The Attribute Protocol's fixed channel.
    @inlinable public static var attributeProtocol: ChannelIdentifier { ChannelIdentifier(0x0004) }
    /// The fixed channel for L2CAP signalling on LE links.
    @inlinable public static var leSignalling: ChannelIdentifier { ChannelIdentifier(0x0005) }
    /// The Security Manager's fixed channel on LE links.
    @inlinable public static var securityManager: ChannelIdentifier { ChannelIdentifier(0x0006) }
    /// The identifiers of credit-based channels on an LE link (Table 2.3).
    @inlinable public static var leDynamicRange: ClosedRange<UInt16> { 0x0040...0x007F }

    /// Whether a credit-based channel on an LE link may have this identifier.
    @inlinable public var isLEDynamic: Bool { Self.leDynamicRange.contains(rawValue) }
}

extension ChannelIdentifier: ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// Creates an identifier from a literal, such as `0x0040`.
    @inlinable
    public init(integerLiteral value: UInt16) { self.init(value) }

    /// Four hexadecimal digits after `0x`, such as `0x0040`.
    public var description: String { "0x" + hexadecimal(rawValue, digits: 4) }
}

extension ByteReader {
    /// Reads the two octets of a channel identifier, least significant first. Throws if fewer are left.
    @inlinable @inline(__always)
    @_lifetime(self: copy self)
    public mutating func readChannelIdentifier() throws(DecodingFailure) -> ChannelIdentifier {
        ChannelIdentifier(try readUInt16())
    }
}

extension ByteWriter {
    /// Appends the two octets of a channel identifier, least significant first.
    @inlinable
    public mutating func append(_ channel: ChannelIdentifier) { append(channel.rawValue) }
}
