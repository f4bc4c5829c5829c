/// A PHY, as in events (Core 5.4, Vol 4, Part E, 7.7.65.12).
public struct LEPHY: RawRepresentable, Hashable, Sendable {
    /// The PHY parameter of an event: 1 to 3 are PHYs, 0 is no PHY, and all other values are reserved.
    public var rawValue: UInt8

    /// Creates a PHY from the event parameter. Reserved values are kept.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// No PDU was received on a secondary advertising channel.
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
    /// The PHY parameter of a command. Bits 3 to 7 are reserved.
    public var rawValue: UInt8

    /// Creates a set from the command parameter. Reserved bits are kept.
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
    /// The PHY_Options parameter: 0 to 2 are assigned, and all other values are reserved.
    public var rawValue: UInt16

    /// Creates options from the command parameter. Reserved values are kept.
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
