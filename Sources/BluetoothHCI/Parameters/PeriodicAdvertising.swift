import BluetoothBase

/// The number by which a controller identifies a periodic advertising train that it is synchronized to: 12 bits, 0x0000
/// to 0x0EFF (Core 5.4, Vol 4, Part E, 7.7.65.14).
public struct SyncHandle: RawRepresentable, Hashable, Sendable {
    /// The 12-bit handle. Handles from 0x0F00 are reserved.
    public let rawValue: UInt16

    /// Only the lower 12 bits of `rawValue` are used.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue & 0x0FFF }

    /// Only the lower 12 bits of `rawValue` are used.
    @inlinable
    public init(_ rawValue: UInt16) { self.init(rawValue: rawValue) }
}

extension SyncHandle: HCIParameter {}

extension SyncHandle: CustomStringConvertible {
    /// The handle as four hexadecimal digits, such as `0x0001`.
    public var description: String { "0x" + hexadecimal(rawValue, digits: 4) }
}

/// The optional fields of periodic advertising PDUs (Core 5.4, Vol 4, Part E, 7.8.61).
public struct PeriodicAdvertisingProperties: OptionSet, Hashable, Sendable {
    /// The Periodic_Advertising_Properties parameter. All bits except bit 6 are reserved.
    public var rawValue: UInt16

    /// Creates a set from the command parameter. Reserved bits are kept.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The PDUs contain the transmit power.
    public static let includesTransmitPower = PeriodicAdvertisingProperties(rawValue: 1 << 6)
}

/// The options for synchronizing to periodic advertising (Core 5.4, Vol 4, Part E, 7.8.67).
public struct PeriodicSyncOptions: OptionSet, Hashable, Sendable {
    /// The Options parameter of LE Periodic Advertising Create Sync. Bits 3 to 7 are reserved.
    public var rawValue: UInt8

    /// Creates a set from the command parameter. Reserved bits are kept.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Synchronize to any advertiser in the Periodic Advertiser List, instead of the one specified in the command.
    public static let usesAdvertiserList = PeriodicSyncOptions(rawValue: 1 << 0)
    /// Reports are initially disabled.
    public static let disablesReports = PeriodicSyncOptions(rawValue: 1 << 1)
    /// Data that has already been reported is not reported again.
    public static let filtersDuplicates = PeriodicSyncOptions(rawValue: 1 << 2)
}

/// The reports of periodic advertising that a controller sends (Core 5.4, Vol 4, Part E, 7.8.88).
public struct PeriodicReporting: OptionSet, Hashable, Sendable {
    /// The Enable parameter of LE Set Periodic Advertising Receive Enable. Bits 2 to 7 are reserved.
    public var rawValue: UInt8

    /// Creates a set from the command parameter. Reserved bits are kept.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Reports are enabled.
    public static let enabled = PeriodicReporting(rawValue: 1 << 0)
    /// Data that has already been reported is not reported again.
    public static let filtersDuplicates = PeriodicReporting(rawValue: 1 << 1)
}

/// Whether periodic advertising is enabled, and its options (Core 5.4, Vol 4, Part E, 7.8.63).
public struct PeriodicAdvertisingEnabling: OptionSet, Hashable, Sendable {
    /// The Enable parameter of LE Set Periodic Advertising Enable. Bits 2 to 7 are reserved.
    public var rawValue: UInt8

    /// Creates a set from the command parameter. Reserved bits are kept.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Periodic advertising is enabled.
    public static let enabled = PeriodicAdvertisingEnabling(rawValue: 1 << 0)
    /// The PDUs contain the ADI field, by which scanners recognize data that they have already received.
    public static let includesADI = PeriodicAdvertisingEnabling(rawValue: 1 << 1)
}

/// How a controller handles synchronization information for periodic advertising from a peer (Core 5.4, Vol 4, Part E,
/// 7.8.91).
public struct PeriodicSyncTransferMode: RawRepresentable, Hashable, Sendable {
    /// The Mode parameter, 0x00 to 0x03. Other values are reserved.
    public var rawValue: UInt8

    /// Creates a mode from the command parameter. Reserved values are accepted.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The controller ignores the information.
    public static let ignore = PeriodicSyncTransferMode(rawValue: 0)
    /// The controller synchronizes, with reports initially disabled.
    public static let withoutReports = PeriodicSyncTransferMode(rawValue: 1)
    /// The controller synchronizes, with reports enabled.
    public static let synchronize = PeriodicSyncTransferMode(rawValue: 2)
    /// The controller synchronizes, with reports enabled and duplicates filtered.
    public static let filterDuplicates = PeriodicSyncTransferMode(rawValue: 3)
}

extension PeriodicAdvertisingProperties: HCIParameter {}
extension PeriodicSyncOptions: HCIParameter {}
extension PeriodicReporting: HCIParameter {}
extension PeriodicAdvertisingEnabling: HCIParameter {}
extension PeriodicSyncTransferMode: HCIParameter {}
