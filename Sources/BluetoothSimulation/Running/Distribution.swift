/// How often each number occurred, for quantiles: exact up to 64, and to within one part in 32 above.
public struct Distribution: Equatable, Sendable {
    private var counts: [Int] = []
    public private(set) var count = 0
    public private(set) var sum = 0

    public init() {}

    mutating func add(_ number: Int) {
        let bucket = Self.bucket(of: max(0, number))
        if bucket >= counts.count { counts += Array(repeating: 0, count: bucket + 1 - counts.count) }
        counts[bucket] += 1
        count += 1
        sum += number
    }

    /// The number that this part of all is at most, from 0 to 1; nil if there are none.
    public func quantile(_ part: Double) -> Int? {
        var left = Int((Double(count) * part).rounded(.up))
        for (bucket, count) in counts.enumerated() {
            left -= count
            if left <= 0, count > 0 { return Self.lowest(in: bucket) }
        }
        return nil
    }

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
