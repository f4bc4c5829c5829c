import BluetoothATT

/// The link security needed to read or write an attribute (Core 5.4, Vol 3, Part F, 3.2.5; Part C, 10.3).
public struct GATTPermissions: Equatable, Sendable {
    /// How well a link must be protected; each level includes the one before it.
    public enum Requirement: UInt8, Comparable, Sendable, CaseIterable {
        /// No link may do this.
        case notAllowed
        /// Any link may do this.
        case open
        /// The link is encrypted, with any key.
        case encrypted
        /// The link is encrypted with a key from a pairing that protects against machines in the middle.
        case authenticated
        /// As `authenticated`, and the pairing was LE Secure Connections.
        case authenticatedSecureConnections

        @inlinable
        public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    public var read: Requirement
    public var write: Requirement
    /// Whether reading also needs the consent of the application, which is asked on each link when the peer first tries,
    /// unless it has given it to the whole link: `LinkSecurity.isAuthorized`.
    public var readNeedsAuthorization: Bool
    /// Whether writing also needs the consent of the application, in the same way.
    public var writeNeedsAuthorization: Bool
    /// Whether a write with a valid signature is accepted over a link that is not encrypted. Where `write` requires an
    /// authenticated key, the signature's key must come from such a pairing (LE security mode 2, level 2).
    public var acceptsSignedWrites: Bool
    /// The shortest encryption key, in octets (7 to 16), that satisfies `encrypted` and the levels above it.
    public var minimumEncryptionKeySize: UInt8
    /// What a read is refused with where `read` is `notAllowed`: another error, say, of a device that is imitated.
    public var readError: ATTErrorCode = .readNotPermitted
    /// What a write is refused with where `write` is `notAllowed`.
    public var writeError: ATTErrorCode = .writeNotPermitted

    @inlinable
    public init(
        read: Requirement = .notAllowed, write: Requirement = .notAllowed, readNeedsAuthorization: Bool = false,
        writeNeedsAuthorization: Bool = false, acceptsSignedWrites: Bool = false, minimumEncryptionKeySize: UInt8 = 7
    ) {
        self.read = read
        self.write = write
        self.readNeedsAuthorization = readNeedsAuthorization
        self.writeNeedsAuthorization = writeNeedsAuthorization
        self.acceptsSignedWrites = acceptsSignedWrites
        self.minimumEncryptionKeySize = minimumEncryptionKeySize
    }

    /// Any link may read, none may write: required for declarations.
    @inlinable public static var readOnly: Self { .init(read: .open) }

    /// No protection: any link may do what the properties offer. What can only be written with a signature can also be
    /// written over an encrypted link, where a signature must not be used (Vol 3, Part C, 10.4.1).
    @inlinable
    public init(openFor properties: GATTCharacteristicProperties) {
        let isSigned = properties.contains(.authenticatedSignedWrites)
        let isWritable = !properties.isDisjoint(with: [.write, .writeWithoutResponse])
        self.init(
            read: properties.contains(.read) ? .open : .notAllowed,
            write: isWritable ? .open : isSigned ? .encrypted : .notAllowed, acceptsSignedWrites: isSigned)
    }
}

/// The current security of a link, as needed for attribute permissions (Core 5.4, Vol 3, Part C, 10.2).
public struct LinkSecurity: Equatable, Sendable {
    public var isEncrypted: Bool
    /// The key came from a pairing with protection against machines in the middle.
    public var isAuthenticated: Bool
    /// The key came from an LE Secure Connections pairing.
    public var usesSecureConnections: Bool
    /// The length of the encryption key in octets, 0 if there is none.
    public var encryptionKeySize: UInt8
    /// Whether a long-term key is shared with the peer: an unencrypted link then needs encryption, not pairing.
    public var isBonded: Bool
    /// Whether the user authorized this peer.
    public var isAuthorized: Bool

    @inlinable
    public init(
        isEncrypted: Bool = false, isAuthenticated: Bool = false, usesSecureConnections: Bool = false,
        encryptionKeySize: UInt8 = 0, isBonded: Bool = false, isAuthorized: Bool = false
    ) {
        self.isEncrypted = isEncrypted
        self.isAuthenticated = isAuthenticated
        self.usesSecureConnections = usesSecureConnections
        self.encryptionKeySize = encryptionKeySize
        self.isBonded = isBonded
        self.isAuthorized = isAuthorized
    }

    /// An unprotected link with an unknown peer.
    @inlinable public static var unprotected: Self { .init() }
}
