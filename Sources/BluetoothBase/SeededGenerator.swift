/// A small, fast pseudo-random number generator (SplitMix64; Steele, Lea and Flood, 2014). The same seed always gives
/// the same sequence, on every platform. Never use it for keys.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator. Equal seeds give equal sequences.
    public init(seed: UInt64) {
        state = seed
    }

    /// The next 64 bits of the sequence, uniformly distributed.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    /// A uniformly distributed number below `bound`; 0 if `bound` is not positive. Unlike the numbers of the standard
    /// library, it is the same on every platform and in every version.
    public mutating func number(below bound: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(max(1, bound))).high)
    }

    /// A uniformly distributed duration in a range.
    public mutating func duration(in range: ClosedRange<Duration>) -> Duration {
        let start = range.lowerBound.nanoseconds
        let width = range.upperBound.nanoseconds.subtractingReportingOverflow(start).partialValue.magnitude
        return .nanoseconds(start + Int64(next().multipliedFullWidth(by: width &+ 1).high))
    }
}
