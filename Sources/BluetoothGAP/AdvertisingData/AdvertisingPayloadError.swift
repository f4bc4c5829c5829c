/// Why something cannot be advertised: an AD structure does not fit.
public struct AdvertisingPayloadError: Error, Equatable, Sendable {
    /// The structure that does not fit.
    public var type: ADType
    /// By how many octets it is too long for the larger of the two remaining spaces.
    public var excess: Int

    public init(type: ADType, excess: Int) {
        self.type = type
        self.excess = excess
    }
}

extension AdvertisingPayloadError: CustomStringConvertible {
    public var description: String { "\(type) does not fit: \(excess) octets too many" }
}
