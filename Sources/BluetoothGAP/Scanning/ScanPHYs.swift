/// The primary PHYs on which a scanner listens, or on which a peer is connected to (Core 5.4, Vol 4, Part E, 7.8.64).
public struct ScanPHYs: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// LE 1M, on which all legacy advertising is.
    public static let le1M = ScanPHYs(rawValue: 1 << 0)
    /// LE Coded, which reaches further. Only extended advertising is on it.
    public static let leCoded = ScanPHYs(rawValue: 1 << 2)

    /// Whether it is at least one of the two, and nothing else.
    package var isValid: Bool { !isEmpty && isSubset(of: [.le1M, .leCoded]) }
}
