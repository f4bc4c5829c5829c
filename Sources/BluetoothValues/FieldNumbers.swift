import BluetoothBase

// Shared by several layouts: length checks and fixed-point numbers.

extension ByteReader {
    /// Throws unless at least `count` more octets remain. The error then counts all missing octets, not only those of
    /// the first incomplete field.
    func require(_ count: Int) throws(DecodingFailure) {
        guard remaining >= count else {
            throw DecodingFailure(.truncated(missing: count - remaining), at: bytes.count)
        }
    }
}

extension FixedWidthInteger {
    /// Creates the nearest number within a range. NaN becomes the lower bound.
    ///
    /// Do not use this for integers wider than 32 bits, because a `Double` can't represent their bounds.
    init(nearest value: Double, in range: ClosedRange<Self> = .min ... .max) {
        let rounded = value.rounded()
        if rounded >= Double(range.upperBound) {
            self = range.upperBound
        } else if rounded > Double(range.lowerBound) {
            self = Self(rounded)
        } else {
            self = range.lowerBound
        }
    }
}

extension Duration {
    /// Creates a duration from units of 1/1024 s, which a `Duration` represents exactly.
    init(ticks: UInt16) {
        self = .seconds(Int64(ticks)) / 1024
    }

    /// The nearest number of units of 1/1024 s, clamped to the 64 s that fit into 16 bits.
    var ticks: UInt16 {
        let seconds = Double(components.seconds) + Double(components.attoseconds) / 1e18
        return UInt16(nearest: seconds * 1024)
    }
}
