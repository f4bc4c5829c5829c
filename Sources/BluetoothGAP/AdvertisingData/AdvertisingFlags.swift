/// What a device says about its discoverability in the Flags AD structure (Core Supplement, Part A, 1.3).
public struct AdvertisingFlags: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8

    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Discoverable for a limited time.
    public static let limitedDiscoverable = Self(rawValue: 1 << 0)
    /// Discoverable at all times.
    public static let generalDiscoverable = Self(rawValue: 1 << 1)
    /// The device speaks LE only.
    public static let brEDRNotSupported = Self(rawValue: 1 << 2)
    /// The controller can use LE and BR/EDR with the same device at once.
    public static let simultaneousLEAndBREDR = Self(rawValue: 1 << 3)
}
