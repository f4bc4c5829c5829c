/// An error that reports an AD structure that does not fit into the advertising data.
public struct AdvertisingPayloadError: Error, Equatable, Sendable {
    /// The type of the structure that does not fit.
    public var type: ADType
    /// The number of octets by which the structure exceeds the available space.
    public var excess: Int

    /// Creates an error for a structure that is `excess` octets too long.
    public init(type: ADType, excess: Int) {
        self.type = type
        self.excess = excess
    }
}

extension AdvertisingPayloadError: CustomStringConvertible {
    /// The type and the excess, such as `Flags does not fit: 3 octets too many`.
    public var description: String { "\(type) does not fit: \(excess) octets too many" }
}
