/// Why something cannot be advertised: an AD structure found no room.
public struct AdvertisingPayloadError: Error, Equatable, Sendable {
    /// The structure that found none.
    public var type: ADType
    /// By how many octets it is too long for the larger of the two rooms that were left.
    public var excess: Int

    public init(type: ADType, excess: Int) {
        self.type = type
        self.excess = excess
    }
}

extension AdvertisingPayloadError: CustomStringConvertible {
    public var description: String { "\(type) does not fit: \(excess) octets too many" }
}
