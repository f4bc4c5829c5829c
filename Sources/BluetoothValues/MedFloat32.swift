import BluetoothBase

/// A decimal number as used by medical devices: a 24-bit mantissa and an exponent to the base 10, or one of five
/// special values (medfloat32 in the GATT Specification Supplement, FLOAT-Type in IEEE 11073-20601).
///
/// The exponent expresses the precision of the number, so 36.4 and 36.40 are not the same `MedFloat32`. Convert it to a
/// `Double` to compare or to calculate.
public struct MedFloat32: RawRepresentable, Hashable, Sendable {
    /// The exponent in the upper 8 bits and the mantissa in the lower 24 bits, both in two's complement.
    public var rawValue: UInt32

    /// Creates a number, or a special value, from its encoded form.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Creates the number nearest to `value` that is a multiple of 10 to the power of `exponent`. The default exponent
    /// gives two decimal places. A number that is too large becomes `notAtThisResolution`.
    public init(_ value: Double, exponent: Int8 = -2) {
        let scaled = (exponent < 0 ? value * powerOfTen(exponent.magnitude) : value / powerOfTen(exponent.magnitude))
            .rounded()
        if value.isNaN {
            self = .nan
        } else if value.isInfinite {
            self = value > 0 ? .positiveInfinity : .negativeInfinity
        } else if abs(scaled) > Double(Self.greatestMantissa) {
            self = .notAtThisResolution
        } else {
            let mantissa = UInt32(bitPattern: Int32(scaled)) & 0x00FF_FFFF
            rawValue = UInt32(UInt8(bitPattern: exponent)) << 24 | mantissa
        }
    }

    /// The exponent. The mantissa is multiplied by 10 to the power of this value.
    public var exponent: Int8 { Int8(truncatingIfNeeded: Int32(bitPattern: rawValue) >> 24) }

    /// The digits of the number. They are meaningless for special values.
    public var mantissa: Int32 { Int32(bitPattern: rawValue << 8) >> 8 }

    /// Whether this is a number and not a special value.
    public var isFinite: Bool { abs(mantissa) <= Self.greatestMantissa }

    /// The largest mantissa. Larger ones are special values, regardless of the exponent.
    private static let greatestMantissa: Int32 = 0x7F_FFFD

    /// Not a number.
    public static let nan = MedFloat32(rawValue: 0x007F_FFFF)
    /// NRes: the number cannot be represented at this resolution.
    public static let notAtThisResolution = MedFloat32(rawValue: 0x0080_0000)
    /// +INFINITY: positive infinity.
    public static let positiveInfinity = MedFloat32(rawValue: 0x007F_FFFE)
    /// -INFINITY: negative infinity.
    public static let negativeInfinity = MedFloat32(rawValue: 0x0080_0002)
    /// Reserved for future use.
    public static let reserved = MedFloat32(rawValue: 0x0080_0001)
}

extension Double {
    /// Creates the nearest `Double`. The result is NaN for NaN, NRes and reserved values.
    public init(_ number: MedFloat32) {
        let (mantissa, exponent) = (number.mantissa, number.exponent)
        if number.isFinite {
            // Dividing by an exact power gives the nearest number; multiplying by 0.01 would not.
            let power = powerOfTen(exponent.magnitude)
            self = exponent < 0 ? Double(mantissa) / power : Double(mantissa) * power
        } else if mantissa == MedFloat32.positiveInfinity.mantissa {
            self = .infinity
        } else if mantissa == MedFloat32.negativeInfinity.mantissa {
            self = -.infinity
        } else {
            self = .nan
        }
    }
}

/// Returns 10 to the power of `exponent`. The result is exact for exponents up to 22. The largest one that occurs, 128,
/// does not overflow.
private func powerOfTen(_ exponent: UInt8) -> Double {
    (0..<exponent).reduce(1) { power, _ in power * 10 }
}

extension MedFloat32: CustomStringConvertible {
    /// The number as text, such as `36.4`, or the name of a special value: `NaN`, `NRes`, `+INFINITY`, `-INFINITY` or
    /// `reserved`.
    public var description: String {
        if isFinite { return "\(Double(self))" }
        return switch mantissa {
        case Self.nan.mantissa: "NaN"
        case Self.notAtThisResolution.mantissa: "NRes"
        case Self.positiveInfinity.mantissa: "+INFINITY"
        case Self.negativeInfinity.mantissa: "-INFINITY"
        default: "reserved"
        }
    }
}

extension ByteReader {
    @_lifetime(self: copy self)
    mutating func readMedFloat32() throws(DecodingFailure) -> MedFloat32 {
        MedFloat32(rawValue: try readUInt32())
    }
}

extension ByteWriter {
    mutating func append(_ number: MedFloat32) { append(number.rawValue) }
}
