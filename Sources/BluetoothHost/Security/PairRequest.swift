import BluetoothSMP

/// The parameters of a pairing.
public struct PairRequest: Equatable, Sendable {
    /// Whether protection against man-in-the-middle attacks is required. The adapter's `SecurityPolicy.requirement` may
    /// require it in any case.
    public var requiresAuthentication: Bool
    /// The peer's data, received out of band.
    public var peerOutOfBandData: OutOfBandData?
    /// Whether to pair even if a bond already exists.
    public var renewsKeys: Bool

    /// Creates a request. By default, unauthenticated pairing is acceptable, and an existing bond is used.
    public init(
        requiresAuthentication: Bool = false, peerOutOfBandData: OutOfBandData? = nil, renewsKeys: Bool = false
    ) {
        self.requiresAuthentication = requiresAuthentication
        self.peerOutOfBandData = peerOutOfBandData
        self.renewsKeys = renewsKeys
    }
}
