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
    public var key: UInt128
    /// EDIV; 0 with LE Secure Connections.
    public var encryptedDiversifier: UInt16
    /// Rand; 0 with LE Secure Connections.
    public var random: UInt64

    public init(key: UInt128, encryptedDiversifier: UInt16 = 0, random: UInt64 = 0) {
        self.key = key
        self.encryptedDiversifier = encryptedDiversifier
        self.random = random
    }
}

/// The protection that the keys of a pairing give.
public struct KeyStrength: Hashable, Sendable {
    /// How the devices authenticated each other.
    public var model: AssociationModel
    /// Whether it was LE Secure Connections.
    public var usesSecureConnections: Bool
    /// In octets, 7 to 16.
    public var keySize: UInt8

    public init(model: AssociationModel, usesSecureConnections: Bool, keySize: UInt8) {
        self.model = model
        self.usesSecureConnections = usesSecureConnections
        self.keySize = keySize
    }

    /// Whether it protects against machines in the middle.
    public var isAuthenticated: Bool { model != .justWorks }
}

/// The identity of a device, as distributed in pairing (Vol 3, Part H, 2.4.2).
public struct DeviceIdentity: Hashable, Sendable {
    /// A public or static random address.
    public var address: DeviceAddress
    /// The Identity Resolving Key; 0 for a device without private addresses.
    public var resolvingKey: UInt128

    public init(address: DeviceAddress, resolvingKey: UInt128) {
        self.address = address
        self.resolvingKey = resolvingKey
    }
}

/// What a pairing has led to.
public struct PairingResult: Hashable, Sendable {
    public var strength: KeyStrength
    /// Whether both sides keep the keys. A peer may distribute keys that neither side keeps (Vol 3, Part H, 3.6.1).
    public var isBonded: Bool
    /// The key for links on which this device is the central.
    public var centralKey: LongTermKey?
    /// The key for links on which this device is the peripheral.
    public var peripheralKey: LongTermKey?
    public var peerIdentity: DeviceIdentity?
    /// The key that the peer signs with.
    public var peerSignatureKey: UInt128?
    /// The key that this device signs with.
    public var localSignatureKey: UInt128?

    public init(strength: KeyStrength, isBonded: Bool) {
        self.strength = strength
        self.isBonded = isBonded
    }
}

/// Data that reaches the peer by another way than Bluetooth, such as NFC or a printed code (Vol 3, Part H, 2.3.5.6.4).
public enum OutOfBandData: Hashable, Sendable {
    /// Legacy pairing: the Temporary Key, known to both.
    case temporaryKey(UInt128)
    /// LE Secure Connections: the confirm value and the random value of the device it came from.
    case secureConnections(confirm: UInt128, random: UInt128)
}
