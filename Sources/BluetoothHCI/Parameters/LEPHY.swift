/// A PHY, as in events (Core 5.4, Vol 4, Part E, 7.7.65.12).
public struct LEPHY: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// No PDU on a secondary advertising channel.
    public static let none = LEPHY(rawValue: 0)
    /// LE 1M: 1 Mbit/s.
    public static let le1M = LEPHY(rawValue: 1)
    /// LE 2M: 2 Mbit/s.
    public static let le2M = LEPHY(rawValue: 2)
    /// LE Coded: 500 or 125 kbit/s.
    public static let leCoded = LEPHY(rawValue: 3)
}

/// A set of PHYs, as in commands (Core 5.4, Vol 4, Part E, 7.8.48).
public struct LEPHYs: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// LE 1M.
    public static let le1M = LEPHYs(rawValue: 1 << 0)
    /// LE 2M.
    public static let le2M = LEPHYs(rawValue: 1 << 1)
    /// LE Coded.
    public static let leCoded = LEPHYs(rawValue: 1 << 2)
}

/// The coding a host prefers on the LE Coded PHY (Core 5.4, Vol 4, Part E, 7.8.49).
public struct LEPHYOptions: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// No preferred coding.
    public static let noPreference = LEPHYOptions(rawValue: 0)
    /// S=2 coding, 500 kbit/s.
    public static let preferS2 = LEPHYOptions(rawValue: 1)
    /// S=8 coding, 125 kbit/s.
    public static let preferS8 = LEPHYOptions(rawValue: 2)
}

extension LEPHY: HCIParameter {}
extension LEPHYs: HCIParameter {}
extension LEPHYOptions: HCIParameter {}
