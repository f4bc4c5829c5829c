/// How a characteristic value may be used, from its declaration (Core 5.4, Vol 3, Part G, 3.3.1.1).
public struct GATTCharacteristicProperties: OptionSet, Hashable, Sendable {
    /// The Characteristic Properties octet of the declaration.
    public var rawValue: UInt8

    /// Creates properties from the octet of a characteristic declaration.
    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The value may be broadcast in advertising data, as set in the Server Characteristic Configuration descriptor.
    @inlinable public static var broadcast: Self { .init(rawValue: 0x01) }
    /// The value may be read.
    @inlinable public static var read: Self { .init(rawValue: 0x02) }
    /// Write Commands are accepted.
    @inlinable public static var writeWithoutResponse: Self { .init(rawValue: 0x04) }
    /// Write Requests are accepted.
    @inlinable public static var write: Self { .init(rawValue: 0x08) }
    /// The value may be notified, without a confirmation.
    @inlinable public static var notify: Self { .init(rawValue: 0x10) }
    /// The value may be indicated, with a confirmation.
    @inlinable public static var indicate: Self { .init(rawValue: 0x20) }
    /// Signed Write Commands are accepted.
    @inlinable public static var authenticatedSignedWrites: Self { .init(rawValue: 0x40) }
    /// See the Characteristic Extended Properties descriptor (3.3.3.1).
    @inlinable public static var extendedProperties: Self { .init(rawValue: 0x80) }
}

extension GATTCharacteristicProperties: CustomStringConvertible {
    /// The names of the properties in brackets, such as `[read, notify]`.
    public var description: String {
        let names: [(Self, String)] = [
            (.broadcast, "broadcast"), (.read, "read"), (.writeWithoutResponse, "writeWithoutResponse"),
            (.write, "write"), (.notify, "notify"), (.indicate, "indicate"),
            (.authenticatedSignedWrites, "authenticatedSignedWrites"), (.extendedProperties, "extendedProperties"),
        ]
        return "[" + names.filter { contains($0.0) }.map(\.1).joined(separator: ", ") + "]"
    }
}
