/// How a characteristic value may be used, from its declaration (Core 5.4, Vol 3, Part G, 3.3.1.1).
public struct GATTCharacteristicProperties: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8

    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The value may be broadcast in advertising data, as the Server Characteristic Configuration says.
    @inlinable public static var broadcast: Self { .init(rawValue: 0x01) }
    @inlinable public static var read: Self { .init(rawValue: 0x02) }
    /// Write Commands are accepted.
    @inlinable public static var writeWithoutResponse: Self { .init(rawValue: 0x04) }
    /// Write Requests are accepted.
    @inlinable public static var write: Self { .init(rawValue: 0x08) }
    @inlinable public static var notify: Self { .init(rawValue: 0x10) }
    @inlinable public static var indicate: Self { .init(rawValue: 0x20) }
    /// Signed Write Commands are accepted.
    @inlinable public static var authenticatedSignedWrites: Self { .init(rawValue: 0x40) }
    /// See the Characteristic Extended Properties descriptor (3.3.3.1).
    @inlinable public static var extendedProperties: Self { .init(rawValue: 0x80) }
}

extension GATTCharacteristicProperties: CustomStringConvertible {
    public var description: String {
        let names: [(Self, String)] = [
            (.broadcast, "broadcast"), (.read, "read"), (.writeWithoutResponse, "writeWithoutResponse"),
            (.write, "write"), (.notify, "notify"), (.indicate, "indicate"),
            (.authenticatedSignedWrites, "authenticatedSignedWrites"), (.extendedProperties, "extendedProperties"),
        ]
        return "[" + names.filter { contains($0.0) }.map(\.1).joined(separator: ", ") + "]"
    }
}
