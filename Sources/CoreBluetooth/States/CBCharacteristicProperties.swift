/// What can be done with a characteristic's value (Core 5.4, Vol 3, Part G, 3.3.1.1).
public struct CBCharacteristicProperties: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// It may be broadcast. Nothing is, here.
    public static var broadcast: Self { Self(rawValue: 0x01) }
    /// It can be read.
    public static var read: Self { Self(rawValue: 0x02) }
    /// It can be written, unanswered.
    public static var writeWithoutResponse: Self { Self(rawValue: 0x04) }
    /// It can be written.
    public static var write: Self { Self(rawValue: 0x08) }
    /// It is told when it changes.
    public static var notify: Self { Self(rawValue: 0x10) }
    /// It is told when it changes, and that has to be confirmed.
    public static var indicate: Self { Self(rawValue: 0x20) }
    /// It can be written, unanswered and signed. Nothing is signed here.
    public static var authenticatedSignedWrites: Self { Self(rawValue: 0x40) }
    /// There is more in a descriptor.
    public static var extendedProperties: Self { Self(rawValue: 0x80) }
    /// As `notify`, for centrals whose link is encrypted.
    public static var notifyEncryptionRequired: Self { Self(rawValue: 0x100) }
    /// As `indicate`, for centrals whose link is encrypted.
    public static var indicateEncryptionRequired: Self { Self(rawValue: 0x200) }
}

/// Who may read and write an attribute that this application offers.
public struct CBAttributePermissions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Anybody may read it.
    public static var readable: Self { Self(rawValue: 0x01) }
    /// Anybody may write it.
    public static var writeable: Self { Self(rawValue: 0x02) }
    /// Centrals whose link is encrypted may read it.
    public static var readEncryptionRequired: Self { Self(rawValue: 0x04) }
    /// Centrals whose link is encrypted may write it.
    public static var writeEncryptionRequired: Self { Self(rawValue: 0x08) }
}
