/// What a link has to be before an attribute may be read or written (Core 5.4, Vol 3, Part F, 3.2.5; Part C, 10.3).
public struct GATTPermissions: Equatable, Sendable {
    /// How well a link must be protected; each level asks for all that the one before it asks for.
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
    /// Whether reading also needs the user's consent, `LinkSecurity.isAuthorized`.
    public var readNeedsAuthorization: Bool
    /// Whether writing also needs the user's consent, `LinkSecurity.isAuthorized`.
    public var writeNeedsAuthorization: Bool
    /// The shortest encryption key, in octets (7 to 16), that satisfies `encrypted` and the levels above it.
    public var minimumEncryptionKeySize: UInt8

    @inlinable
    public init(
        read: Requirement = .notAllowed, write: Requirement = .notAllowed, readNeedsAuthorization: Bool = false,
        writeNeedsAuthorization: Bool = false, minimumEncryptionKeySize: UInt8 = 7
    ) {
        self.read = read
        self.write = write
        self.readNeedsAuthorization = readNeedsAuthorization
        self.writeNeedsAuthorization = writeNeedsAuthorization
        self.minimumEncryptionKeySize = minimumEncryptionKeySize
    }

    /// Anybody may read, nobody may write: what the specification asks of declarations.
    @inlinable public static var readOnly: Self { .init(read: .open) }

    /// No protection: what the properties offer, any link may do.
    @inlinable
    public init(openFor properties: GATTCharacteristicProperties) {
        let writable: GATTCharacteristicProperties = [.write, .writeWithoutResponse, .authenticatedSignedWrites]
        self.init(
            read: properties.contains(.read) ? .open : .notAllowed,
            write: properties.isDisjoint(with: writable) ? .notAllowed : .open)
    }
}

/// How well a link is protected at this moment, as far as attribute permissions ask (Core 5.4, Vol 3, Part C, 10.2).
public struct LinkSecurity: Equatable, Sendable {
    public var isEncrypted: Bool
    /// The key came from a pairing with protection against machines in the middle.
    public var isAuthenticated: Bool
    /// The key came from an LE Secure Connections pairing.
    public var usesSecureConnections: Bool
    /// The length of the encryption key in octets, 0 where there is none.
    public var encryptionKeySize: UInt8
    /// Whether a long-term key is shared with the peer: an unencrypted link then needs encryption, not pairing.
    public var isBonded: Bool
    /// Whether the user allowed this peer what is marked as needing authorization.
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

    /// An unprotected link with a peer that was never met.
    @inlinable public static var unprotected: Self { .init() }
}
