/// The properties of a characteristic: the operations that its value supports (Core 5.4, Vol 3, Part G, 3.3.1.1).
public struct CBCharacteristicProperties: OptionSet, Sendable {
    /// The properties as bits. Bits 0 to 7 have the layout of a characteristic declaration; bits 8 and 9 are Apple's.
    public let rawValue: UInt

    /// Creates a set of properties from its bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The value may be broadcast. Not supported here.
    public static var broadcast: Self { Self(rawValue: 0x01) }
    /// The value can be read.
    public static var read: Self { Self(rawValue: 0x02) }
    /// The value can be written without response.
    public static var writeWithoutResponse: Self { Self(rawValue: 0x04) }
    /// The value can be written with response.
    public static var write: Self { Self(rawValue: 0x08) }
    /// The value can be notified.
    public static var notify: Self { Self(rawValue: 0x10) }
    /// The value can be indicated.
    public static var indicate: Self { Self(rawValue: 0x20) }
    /// The value can be written with a signature, without response. Not supported here.
    public static var authenticatedSignedWrites: Self { Self(rawValue: 0x40) }
    /// The characteristic has a Characteristic Extended Properties descriptor.
    public static var extendedProperties: Self { Self(rawValue: 0x80) }
    /// Like `notify`, on encrypted links only.
    public static var notifyEncryptionRequired: Self { Self(rawValue: 0x100) }
    /// Like `indicate`, on encrypted links only.
    public static var indicateEncryptionRequired: Self { Self(rawValue: 0x200) }
}

/// The permissions of an attribute that this application offers.
public struct CBAttributePermissions: OptionSet, Sendable {
    /// The permissions as bits, from bit 0 for `readable` to bit 3 for `writeEncryptionRequired`.
    public let rawValue: UInt

    /// Creates a set of permissions from its bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Any central may read it.
    public static var readable: Self { Self(rawValue: 0x01) }
    /// Any central may write it.
    public static var writeable: Self { Self(rawValue: 0x02) }
    /// Centrals on an encrypted link may read it.
    public static var readEncryptionRequired: Self { Self(rawValue: 0x04) }
    /// Centrals on an encrypted link may write it.
    public static var writeEncryptionRequired: Self { Self(rawValue: 0x08) }
}
