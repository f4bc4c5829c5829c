/// A histogram for quantiles: exact up to 64, and within one part in 32 above.
public struct Distribution: Equatable, Sendable {
    private var counts: [Int] = []
    /// The number of values that were added.
    public private(set) var count = 0
    /// The exact sum of these values.
    public private(set) var sum = 0

    /// Creates an empty distribution.
    public init() {}

    mutating func add(_ number: Int) {
        let bucket = Self.bucket(of: max(0, number))
        if bucket >= counts.count { counts += Array(repeating: 0, count: bucket + 1 - counts.count) }
        counts[bucket] += 1
        count += 1
        sum += number
    }

    /// The smallest number that at least this fraction of all numbers, 0 to 1, does not exceed; nil if the distribution
    /// is empty.
    public func quantile(_ part: Double) -> Int? {
        var left = Int((Double(count) * part).rounded(.up))
        for (bucket, count) in counts.enumerated() {
            left -= count
            if left <= 0, count > 0 { return Self.lowest(in: bucket) }
        }
        return nil
    }

    /// The 0.5 quantile, with the accuracy of the histogram; nil if the distribution is empty.
    public var median: Int? { quantile(0.5) }

    private static let exact = 64
    private static let steps = 32

    private static func bucket(of number: Int) -> Int {
        guard number >= exact else { return number }
        let octave = Int.bitWidth - number.leadingZeroBitCount - 1
        return exact + (octave - 6) * steps + (number >> (octave - 5)) - steps
    }

    private static func lowest(in bucket: Int) -> Int {
        guard bucket >= exact else { return bucket }
        let (octave, step) = (bucket - exact).quotientAndRemainder(dividingBy: steps)
        return (steps + step) << (octave + 1)
    }
}
