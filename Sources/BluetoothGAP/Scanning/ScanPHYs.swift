/// The primary PHYs on which a scanner or an initiator listens (Core 5.4, Vol 4, Part E, 7.8.64).
public struct ScanPHYs: OptionSet, Hashable, Sendable {
    /// The bits of `Scanning_PHYs` or `Initiating_PHYs`: bit 0 for LE 1M and bit 2 for LE Coded.
    public let rawValue: UInt8

    /// Creates a set of PHYs from the bits of the HCI parameter.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// LE 1M. All legacy advertising is sent on this PHY.
    public static let le1M = ScanPHYs(rawValue: 1 << 0)
    /// LE Coded, which has a longer range. Only extended advertising is sent on this PHY.
    public static let leCoded = ScanPHYs(rawValue: 1 << 2)

    /// Whether the set contains at least one of the two PHYs, and no other bits.
    package var isValid: Bool { !isEmpty && isSubset(of: [.le1M, .leCoded]) }
}
