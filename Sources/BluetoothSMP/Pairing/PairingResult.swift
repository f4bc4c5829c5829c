import BluetoothBase

/// How two devices authenticate each other (Core 5.4, Vol 3, Part H, 2.3.5.1).
public enum AssociationModel: String, Sendable, CaseIterable, Codable {
    case justWorks
    case passkeyEntry
    case numericComparison
    case outOfBand
}

/// A key that encrypts links (Vol 3, Part H, 2.4.1).
public struct LongTermKey: Hashable, Sendable {
    /// The LTK. A key shorter than 16 octets has its most significant octets set to 0.
    public var key: UInt128
    /// EDIV; 0 with LE Secure Connections.
    public var encryptedDiversifier: UInt16
    /// Rand; 0 with LE Secure Connections.
    public var random: UInt64

    /// Creates a key. The default EDIV and Rand are those of LE Secure Connections.
    public init(key: UInt128, encryptedDiversifier: UInt16 = 0, random: UInt64 = 0) {
        self.key = key
        self.encryptedDiversifier = encryptedDiversifier
        self.random = random
    }
}

/// The protection that the keys of a pairing provide.
public struct KeyStrength: Hashable, Sendable {
    /// How the devices authenticated each other.
    public var model: AssociationModel
    /// Whether the pairing used LE Secure Connections.
    public var usesSecureConnections: Bool
    /// The size of the keys in octets, 7 to 16.
    public var keySize: UInt8

    /// Creates a strength. The key size is not checked.
    public init(model: AssociationModel, usesSecureConnections: Bool, keySize: UInt8) {
        self.model = model
        self.usesSecureConnections = usesSecureConnections
        self.keySize = keySize
    }

    /// Whether the pairing protects against man-in-the-middle attacks.
    public var isAuthenticated: Bool { model != .justWorks }
}

/// The identity of a device, as distributed during pairing (Vol 3, Part H, 2.4.2).
public struct DeviceIdentity: Hashable, Sendable {
    /// A public or static random address.
    public var address: DeviceAddress
    /// The Identity Resolving Key; 0 for a device without private addresses.
    public var resolvingKey: UInt128

    /// Creates an identity. The kind of the address is not checked.
    public init(address: DeviceAddress, resolvingKey: UInt128) {
        self.address = address
        self.resolvingKey = resolvingKey
    }
}

/// The result of a successful pairing.
public struct PairingResult: Hashable, Sendable {
    /// The protection that the keys of this pairing provide.
    public var strength: KeyStrength
    /// Whether both devices store the keys. Devices may distribute keys that neither of them stores (Vol 3, Part H,
    /// 3.6.1).
    public var isBonded: Bool
    /// The key for links on which this device is the central.
    public var centralKey: LongTermKey?
    /// The key for links on which this device is the peripheral.
    public var peripheralKey: LongTermKey?
    /// The identity that the peer has distributed; nil if it has distributed none.
    public var peerIdentity: DeviceIdentity?
    /// The key that the peer signs with.
    public var peerSignatureKey: UInt128?
    /// The key that this device signs with.
    public var localSignatureKey: UInt128?

    /// Creates a result without keys and without an identity.
    public init(strength: KeyStrength, isBonded: Bool) {
        self.strength = strength
        self.isBonded = isBonded
    }
}

/// Data exchanged by other means than Bluetooth, such as NFC or a printed code (Vol 3, Part H, 2.3.5.6.4).
@nonexhaustive
public enum OutOfBandData: Hashable, Sendable {
    /// Legacy pairing: the Temporary Key, which both devices know.
    case temporaryKey(UInt128)
    /// LE Secure Connections: the confirm value and the random value of the device it came from.
    case secureConnections(confirm: UInt128, random: UInt128)
}
