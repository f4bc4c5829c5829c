import BluetoothBase

/// The number by which a controller identifies periodic advertising that it receives: 12 bits, 0x0000 to 0x0EFF (Core 5.4, Vol 4, Part
/// E, 7.7.65.14).
public struct SyncHandle: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt16

    /// Only the lower 12 bits of `rawValue` count.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue & 0x0FFF }

    /// Only the lower 12 bits of `rawValue` count.
    @inlinable
    public init(_ rawValue: UInt16) { self.init(rawValue: rawValue) }
}

extension SyncHandle: HCIParameter {}

extension SyncHandle: CustomStringConvertible {
    public var description: String { "0x" + hexadecimal(rawValue, digits: 4) }
}

/// What periodic advertising has besides its data (Core 5.4, Vol 4, Part E, 7.8.61).
public struct PeriodicAdvertisingProperties: OptionSet, Hashable, Sendable {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The transmit power.
    public static let includesTransmitPower = PeriodicAdvertisingProperties(rawValue: 1 << 6)
}

/// How to synchronize (Core 5.4, Vol 4, Part E, 7.8.67).
public struct PeriodicSyncOptions: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// To any advertiser in the Periodic Advertiser List, in place of the one that is named.
    public static let usesAdvertiserList = PeriodicSyncOptions(rawValue: 1 << 0)
    /// Without reports at first.
    public static let disablesReports = PeriodicSyncOptions(rawValue: 1 << 1)
    /// Without reports of data that was reported before.
    public static let filtersDuplicates = PeriodicSyncOptions(rawValue: 1 << 2)
}

/// Which reports of periodic advertising a controller sends (Core 5.4, Vol 4, Part E, 7.8.88).
public struct PeriodicReporting: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Any.
    public static let enabled = PeriodicReporting(rawValue: 1 << 0)
    /// None of data that was reported before.
    public static let filtersDuplicates = PeriodicReporting(rawValue: 1 << 1)
}

/// How periodic advertising is switched on (Core 5.4, Vol 4, Part E, 7.8.63).
public struct PeriodicAdvertisingEnabling: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// It is on.
    public static let enabled = PeriodicAdvertisingEnabling(rawValue: 1 << 0)
    /// With the number by which scanners know data that they have had.
    public static let includesADI = PeriodicAdvertisingEnabling(rawValue: 1 << 1)
}

/// What a controller does about periodic advertising of which a peer tells it (Core 5.4, Vol 4, Part E, 7.8.91).
public struct PeriodicSyncTransferMode: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Nothing.
    public static let ignore = PeriodicSyncTransferMode(rawValue: 0)
    /// It synchronizes, and sends no reports at first.
    public static let withoutReports = PeriodicSyncTransferMode(rawValue: 1)
    /// It synchronizes.
    public static let synchronize = PeriodicSyncTransferMode(rawValue: 2)
    /// It synchronizes, and sends no reports of data that was reported before.
    public static let filterDuplicates = PeriodicSyncTransferMode(rawValue: 3)
}

extension PeriodicAdvertisingProperties: HCIParameter {}
extension PeriodicSyncOptions: HCIParameter {}
extension PeriodicReporting: HCIParameter {}
extension PeriodicAdvertisingEnabling: HCIParameter {}
extension PeriodicSyncTransferMode: HCIParameter {}
