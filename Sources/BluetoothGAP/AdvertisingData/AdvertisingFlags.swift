/// The content of the Flags AD structure, which describes a device's discoverability (Core Supplement, Part A, 1.3).
public struct AdvertisingFlags: OptionSet, Hashable, Sendable {
    /// The first octet of the Flags structure. Undefined bits are kept.
    public var rawValue: UInt8

    /// Creates flags from the octet of the Flags structure.
    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// LE Limited Discoverable Mode: the device is discoverable for a limited time.
    public static let limitedDiscoverable = Self(rawValue: 1 << 0)
    /// LE General Discoverable Mode: the device is discoverable at all times.
    public static let generalDiscoverable = Self(rawValue: 1 << 1)
    /// The device supports LE only.
    public static let brEDRNotSupported = Self(rawValue: 1 << 2)
    /// The controller can use LE and BR/EDR with the same device simultaneously.
    public static let simultaneousLEAndBREDR = Self(rawValue: 1 << 3)
}
