import BluetoothBase

// What several layouts have in common: length checks and fixed-point numbers.

extension ByteReader {
    /// Throws unless at least `count` more octets are there: so that the error counts everything that is missing, not
    /// only the rest of the first incomplete field.
    func require(_ count: Int) throws(DecodingFailure) {
        guard remaining >= count else {
            throw DecodingFailure(.truncated(missing: count - remaining), at: bytes.count)
        }
    }
}

extension FixedWidthInteger {
    /// The nearest number within a range; the lower bound for NaN.
    ///
    /// Not for integers wider than 32 bits, whose bounds a `Double` does not hold.
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
    /// A number of 1/1024 s, which a duration holds exactly.
    init(ticks: UInt16) {
        self = .seconds(Int64(ticks)) / 1024
    }

    /// The nearest multiple of 1/1024 s, within the 64 seconds that fit into 16 bits.
    var ticks: UInt16 {
        let seconds = Double(components.seconds) + Double(components.attoseconds) / 1e18
        return UInt16(nearest: seconds * 1024)
    }
}
