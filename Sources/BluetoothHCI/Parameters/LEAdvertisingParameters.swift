/// The kind of PDU a legacy advertiser sends (Core 5.4, Vol 4, Part E, 7.8.5).
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

/// The address a device uses on the air (Core 5.4, Vol 4, Part E, 7.8.5).
public enum OwnAddressType: UInt8, Sendable {
    /// The public address.
    case `public` = 0
    /// The address set by LE Set Random Address.
    case random = 1
    /// A resolvable private address the controller generates from the resolving list; the public address if there is no
    /// entry.
    case resolvableOrPublic = 2
    /// A resolvable private address the controller generates from the resolving list; the random address if there is no
    /// entry.
    case resolvableOrRandom = 3
}

/// Whose requests an advertiser answers (Core 5.4, Vol 4, Part E, 7.8.5).
public enum AdvertisingFilterPolicy: UInt8, Sendable {
    /// Scan requests and connections from all devices.
    case all = 0
    /// Scan requests only from the Filter Accept List, connections from all.
    case scanFromAcceptList = 1
    /// Scan requests from all, connections only from the Filter Accept List.
    case connectFromAcceptList = 2
    /// Scan requests and connections only from the Filter Accept List.
    case acceptListOnly = 3
}

/// The primary advertising channels (Core 5.4, Vol 4, Part E, 7.8.5).
public struct AdvertisingChannelMap: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8
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

/// The kind of advertising of a set (Core 5.4, Vol 4, Part E, 7.8.53).
public struct AdvertisingEventProperties: OptionSet, Hashable, Sendable {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Accepts connections.
    public static let connectable = AdvertisingEventProperties(rawValue: 1 << 0)
    /// Answers scan requests.
    public static let scannable = AdvertisingEventProperties(rawValue: 1 << 1)
    /// Meant for one device, `peerAddress`.
    public static let directed = AdvertisingEventProperties(rawValue: 1 << 2)
    /// High duty cycle: directed connectable legacy advertising, for at most 1.28 s.
    public static let highDutyCycle = AdvertisingEventProperties(rawValue: 1 << 3)
    /// Legacy PDUs, which every scanner can receive.
    public static let legacy = AdvertisingEventProperties(rawValue: 1 << 4)
    /// Without the advertiser's address.
    public static let anonymous = AdvertisingEventProperties(rawValue: 1 << 5)
    /// Includes the transmit power in the extended header.
    public static let includesTransmitPower = AdvertisingEventProperties(rawValue: 1 << 6)
}

/// The number by which a host identifies an advertising set, 0x00 to 0xEF (Core 5.4, Vol 4, Part E, 7.8.52).
public struct AdvertisingHandle: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8

    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    @inlinable
    public init(_ rawValue: UInt8) { self.rawValue = rawValue }
}

extension LEAdvertisingType: HCIParameter {}
extension OwnAddressType: HCIParameter {}
extension AdvertisingFilterPolicy: HCIParameter {}
extension AdvertisingChannelMap: HCIParameter {}
extension AdvertisingEventProperties: HCIParameter {}
extension AdvertisingHandle: HCIParameter {}
