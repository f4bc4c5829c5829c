import BluetoothSMP

/// How to pair.
public struct PairRequest: Equatable, Sendable {
    /// Whether protection against machines in the middle is required. It is in any case where the adapter's
    /// `SecurityPolicy.requirement` says so.
    public var requiresAuthentication: Bool
    /// The peer's data that came out of band.
    public var peerOutOfBandData: OutOfBandData?
    /// Whether to pair even where there is a bond already.
    public var renewsKeys: Bool

    public init(
        requiresAuthentication: Bool = false, peerOutOfBandData: OutOfBandData? = nil, renewsKeys: Bool = false
    ) {
        self.requiresAuthentication = requiresAuthentication
        self.peerOutOfBandData = peerOutOfBandData
        self.renewsKeys = renewsKeys
    }
}
