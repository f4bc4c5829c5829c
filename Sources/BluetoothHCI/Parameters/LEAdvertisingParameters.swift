/// The type of PDU that a legacy advertiser sends (Core 5.4, Vol 4, Part E, 7.8.5).
public enum LEAdvertisingType: UInt8, Sendable {
    /// ADV_IND: connectable and scannable, undirected.
    case connectableUndirected = 0
    /// ADV_DIRECT_IND at high duty cycle.
    case connectableDirectedHighDutyCycle = 1
    /// ADV_SCAN_IND: scannable, undirected.
    case scannableUndirected = 2
    /// ADV_NONCONN_IND: neither connectable nor scannable.
    case nonConnectableUndirected = 3
    /// ADV_DIRECT_IND at low duty cycle.
    case connectableDirectedLowDutyCycle = 4
}

/// The type of address that a device uses on the air (Core 5.4, Vol 4, Part E, 7.8.5).
public enum OwnAddressType: UInt8, Sendable {
    /// The public address.
    case `public` = 0
    /// The address set by LE Set Random Address.
    case random = 1
    /// A resolvable private address that the controller generates from the resolving list. Without a matching entry,
    /// the public address.
    case resolvableOrPublic = 2
    /// A resolvable private address that the controller generates from the resolving list. Without a matching entry,
    /// the random address.
    case resolvableOrRandom = 3
}

/// The devices whose requests an advertiser accepts (Core 5.4, Vol 4, Part E, 7.8.5).
public enum AdvertisingFilterPolicy: UInt8, Sendable {
    /// Scan and connection requests from all devices.
    case all = 0
    /// Scan requests only from devices on the Filter Accept List, connection requests from all devices.
    case scanFromAcceptList = 1
    /// Scan requests from all devices, connection requests only from devices on the Filter Accept List.
    case connectFromAcceptList = 2
    /// Scan and connection requests only from devices on the Filter Accept List.
    case acceptListOnly = 3
}

/// The primary advertising channels (Core 5.4, Vol 4, Part E, 7.8.5).
public struct AdvertisingChannelMap: OptionSet, Hashable, Sendable {
    /// The Advertising_Channel_Map parameter. Bits 3 to 7 are reserved.
    public var rawValue: UInt8

    /// Creates a set from the command parameter. Reserved bits are kept.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Channel 37, 2402 MHz.
    public static let channel37 = AdvertisingChannelMap(rawValue: 1 << 0)
    /// Channel 38, 2426 MHz.
    public static let channel38 = AdvertisingChannelMap(rawValue: 1 << 1)
    /// Channel 39, 2480 MHz.
    public static let channel39 = AdvertisingChannelMap(rawValue: 1 << 2)
    /// All three channels.
    public static let all: AdvertisingChannelMap = [.channel37, .channel38, .channel39]
}

/// The properties of a set's advertising events (Core 5.4, Vol 4, Part E, 7.8.53).
public struct AdvertisingEventProperties: OptionSet, Hashable, Sendable {
    /// The Advertising_Event_Properties parameter. Bits 7 to 15 are reserved.
    public var rawValue: UInt16

    /// Creates a set from the command parameter. Reserved bits are kept.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Accepts connections.
    public static let connectable = AdvertisingEventProperties(rawValue: 1 << 0)
    /// Responds to scan requests.
    public static let scannable = AdvertisingEventProperties(rawValue: 1 << 1)
    /// Directed to one device, `peerAddress`.
    public static let directed = AdvertisingEventProperties(rawValue: 1 << 2)
    /// High duty cycle directed connectable legacy advertising, for at most 1.28 s.
    public static let highDutyCycle = AdvertisingEventProperties(rawValue: 1 << 3)
    /// Uses legacy PDUs, which every scanner can receive.
    public static let legacy = AdvertisingEventProperties(rawValue: 1 << 4)
    /// Omits the advertiser's address from all PDUs.
    public static let anonymous = AdvertisingEventProperties(rawValue: 1 << 5)
    /// Includes the transmit power in the extended header.
    public static let includesTransmitPower = AdvertisingEventProperties(rawValue: 1 << 6)
}

/// The number by which a host identifies an advertising set, 0x00 to 0xEF (Core 5.4, Vol 4, Part E, 7.8.52).
public struct AdvertisingHandle: RawRepresentable, Hashable, Sendable {
    /// The handle. Values above 0xEF are reserved.
    public var rawValue: UInt8

    /// Creates a handle from its octet. Reserved values are accepted.
    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Creates a handle from its octet. Reserved values are accepted.
    @inlinable
    public init(_ rawValue: UInt8) { self.rawValue = rawValue }
}

extension LEAdvertisingType: HCIParameter {}
extension OwnAddressType: HCIParameter {}
extension AdvertisingFilterPolicy: HCIParameter {}
extension AdvertisingChannelMap: HCIParameter {}
extension AdvertisingEventProperties: HCIParameter {}
extension AdvertisingHandle: HCIParameter {}
