/// A small, fast generator of pseudo-random bits (SplitMix64; Steele, Lea and Flood, 2014): the same seed always gives the
/// same sequence, on every platform. Never for keys.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) {
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    /// A number below a bound, evenly drawn; 0 if there is none. Unlike those of the standard library it is the same on
    /// every platform and with every version.
    public mutating func number(below bound: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(max(1, bound))).high)
    }

    /// A duration of a range, evenly drawn.
    public mutating func duration(in range: ClosedRange<Duration>) -> Duration {
        let start = range.lowerBound.nanoseconds
        let width = range.upperBound.nanoseconds.subtractingReportingOverflow(start).partialValue.magnitude
        return .nanoseconds(start + Int64(next().multipliedFullWidth(by: width &+ 1).high))
    }
}
