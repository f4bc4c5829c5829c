import BluetoothATT

/// The link security required to read or write an attribute (Core 5.4, Vol 3, Part F, 3.2.5; Part C, 10.3).
public struct GATTPermissions: Equatable, Sendable {
    /// How well a link must be protected. Each level includes the one before it.
    public enum Requirement: UInt8, Comparable, Sendable, CaseIterable {
        /// No link may do this.
        case notAllowed
        /// Any link may do this.
        case open
        /// The link is encrypted, with any key.
        case encrypted
        /// The link is encrypted with a key from a pairing with MITM protection.
        case authenticated
        /// Like `authenticated`, and the pairing used LE Secure Connections.
        case authenticatedSecureConnections

        /// Whether the left requirement is weaker than the right one. `notAllowed` precedes every level of security.
        @inlinable
        public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    /// The link security required to read.
    public var read: Requirement
    /// The link security required to write.
    public var write: Requirement
    /// Whether reading also requires authorization by the application. The application is asked on each link when the
    /// peer first tries to read, unless it has authorized the whole link: `LinkSecurity.isAuthorized`.
    public var readNeedsAuthorization: Bool
    /// Whether writing also requires authorization by the application, in the same way.
    public var writeNeedsAuthorization: Bool
    /// Whether a write with a valid signature is accepted over an unencrypted link. If `write` requires an
    /// authenticated key, the signing key must come from an authenticated pairing (LE security mode 2, level 2).
    public var acceptsSignedWrites: Bool
    /// The shortest encryption key, in octets (7 to 16), that satisfies `encrypted` and the levels above it.
    public var minimumEncryptionKeySize: UInt8
    /// The error of a refused read if `read` is `notAllowed`. Set it to imitate a device that returns another error.
    public var readError: ATTErrorCode = .readNotPermitted
    /// The error of a refused write if `write` is `notAllowed`.
    public var writeError: ATTErrorCode = .writeNotPermitted

    /// Creates permissions. By default no access is allowed.
    /// - Parameter minimumEncryptionKeySize: In octets, 7 to 16.
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

    /// Any link may read and no link may write, as required for declarations.
    @inlinable public static var readOnly: Self { .init(read: .open) }

    /// No protection: any link may do what the properties allow. A value that can only be written with a signature can
    /// also be written over an encrypted link, where a signature must not be used (Vol 3, Part C, 10.4.1).
    @inlinable
    public init(openFor properties: GATTCharacteristicProperties) {
        let isSigned = properties.contains(.authenticatedSignedWrites)
        let isWritable = !properties.isDisjoint(with: [.write, .writeWithoutResponse])
        self.init(
            read: properties.contains(.read) ? .open : .notAllowed,
            write: isWritable ? .open : isSigned ? .encrypted : .notAllowed, acceptsSignedWrites: isSigned)
    }
}

/// The current security of a link, which attribute permissions are checked against (Core 5.4, Vol 3, Part C, 10.2).
public struct LinkSecurity: Equatable, Sendable {
    /// Whether the link is encrypted now.
    public var isEncrypted: Bool
    /// Whether the key comes from a pairing with MITM protection.
    public var isAuthenticated: Bool
    /// Whether the key comes from an LE Secure Connections pairing.
    public var usesSecureConnections: Bool
    /// The length of the encryption key in octets; 0 if the link has none.
    public var encryptionKeySize: UInt8
    /// Whether this device shares a long-term key with the peer. An unencrypted link then needs encryption, not
    /// pairing.
    public var isBonded: Bool
    /// Whether the user authorized this peer.
    public var isAuthorized: Bool

    /// Creates the security of a link. By default the link is unprotected and the peer unknown.
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
