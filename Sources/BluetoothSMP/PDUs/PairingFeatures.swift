/// The content of a Pairing Request or Pairing Response (Core 5.4, Vol 3, Part H, 3.5.1 and 3.5.2).
public struct PairingFeatures: Hashable, Sendable {
    /// The input and output capabilities of the device.
    public var ioCapability: IOCapability
    /// Whether the device has received out-of-band data of the peer.
    public var hasOutOfBandData: Bool
    /// The AuthReq field: bonding, MITM protection and the supported pairing methods.
    public var requirements: AuthenticationRequirements
    /// The longest encryption key the device supports, in octets, 7 to 16.
    public var maximumKeySize: UInt8
    /// The keys that the initiator can distribute; in a response, those that it must distribute.
    public var initiatorKeys: KeyDistribution
    /// The keys that the responder can distribute; in a response, those that it will distribute.
    public var responderKeys: KeyDistribution

    /// Creates features from the fields of the PDU, which are not checked. By default no keys are distributed.
    public init(
        ioCapability: IOCapability, hasOutOfBandData: Bool = false, requirements: AuthenticationRequirements,
        maximumKeySize: UInt8 = 16, initiatorKeys: KeyDistribution = [], responderKeys: KeyDistribution = []
    ) {
        self.ioCapability = ioCapability
        self.hasOutOfBandData = hasOutOfBandData
        self.requirements = requirements
        self.maximumKeySize = maximumKeySize
        self.initiatorKeys = initiatorKeys
        self.responderKeys = responderKeys
    }
}

/// The input and output capabilities of a device (Vol 3, Part H, 2.3.2 and Table 3.4).
public enum IOCapability: UInt8, Sendable, CaseIterable {
    case displayOnly = 0
    case displayYesNo = 1
    case keyboardOnly = 2
    case noInputNoOutput = 3
    case keyboardDisplay = 4
}

/// The `AuthReq` octet (Vol 3, Part H, 3.5.1). Reserved bits are ignored when decoded and 0 when encoded.
public struct AuthenticationRequirements: OptionSet, Hashable, Sendable {
    /// The AuthReq octet. Bits 0 and 1 are the Bonding_Flags.
    public var rawValue: UInt8

    /// Creates requirements from the AuthReq octet. Reserved bits are kept.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Bonding is requested: the keys are stored for later connections.
    public static let bonding = Self(rawValue: 0x01)
    /// MITM protection is requested.
    public static let mitmProtection = Self(rawValue: 0x04)
    /// LE Secure Connections pairing is supported.
    public static let secureConnections = Self(rawValue: 0x08)
    /// Keypress notifications are requested during passkey entry.
    public static let keypress = Self(rawValue: 0x10)
    /// The h7 function is supported (only used to derive a BR/EDR key).
    public static let ct2 = Self(rawValue: 0x20)

    static let known: Self = [.bonding, .mitmProtection, .secureConnections, .keypress, .ct2]
}

/// The keys that a device distributes (Vol 3, Part H, 3.6.1). Reserved bits are ignored when decoded and 0 when
/// encoded.
public struct KeyDistribution: OptionSet, Hashable, Sendable {
    /// The Key Distribution octet, Initiator or Responder.
    public var rawValue: UInt8

    /// Creates a set of keys from the Key Distribution octet. Reserved bits are kept.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Long Term Key, EDIV and Rand. Not distributed with LE Secure Connections.
    public static let encryption = Self(rawValue: 0x01)
    /// Identity Resolving Key and identity address.
    public static let identity = Self(rawValue: 0x02)
    /// Connection Signature Resolving Key.
    public static let signing = Self(rawValue: 0x04)
    /// A BR/EDR link key is derived. This stack never requests it.
    public static let link = Self(rawValue: 0x08)

    static let known: Self = [.encryption, .identity, .signing, .link]
}
