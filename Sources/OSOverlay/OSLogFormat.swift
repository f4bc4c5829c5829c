import Foundation

/// The alignment and minimum width of a value in the log.
public struct OSLogStringAlignment: Equatable, Sendable {
    private enum Side { case none, left, right }

    private let side: Side
    private let columns: Int

    /// No padding.
    public static var none: OSLogStringAlignment { .init(side: .none, columns: 0) }
    /// Pads shorter values with trailing spaces.
    public static func left(columns: Int) -> OSLogStringAlignment { .init(side: .left, columns: columns) }
    /// Pads shorter values with leading spaces.
    public static func right(columns: Int) -> OSLogStringAlignment { .init(side: .right, columns: columns) }

    func aligned(_ text: String) -> String {
        let spaces = String(repeating: " ", count: max(0, columns - text.count))
        return switch side {
        case .none: text
        case .left: text + spaces
        case .right: spaces + text
        }
    }
}

/// How an integer is written.
public struct OSLogIntegerFormatting: Equatable, Sendable {
    private var radix = 10
    private var plus = false
    private var prefix = ""
    private var uppercase = false
    private var minDigits = 1

    private init() {}

    private init(_ radix: Int, _ plus: Bool, _ prefix: String, _ uppercase: Bool, _ minDigits: Int) {
        (self.radix, self.plus, self.prefix, self.uppercase, self.minDigits) = (
            radix, plus, prefix, uppercase, minDigits
        )
    }

    /// Decimal digits, without padding.
    public static var decimal: OSLogIntegerFormatting { .init() }
    /// Lowercase hexadecimal digits, without a prefix. A negative number is written as its bit pattern.
    public static var hex: OSLogIntegerFormatting { .hex() }
    /// Octal digits, without a prefix. A negative number is written as its bit pattern.
    public static var octal: OSLogIntegerFormatting { .octal() }

    /// Decimal digits, padded with leading zeros to `minDigits`. With `explicitPositiveSign`, numbers that are not
    /// negative begin with `+`.
    public static func decimal(explicitPositiveSign: Bool = false, minDigits: Int = 1) -> OSLogIntegerFormatting {
        .init(10, explicitPositiveSign, "", false, minDigits)
    }

    /// Hexadecimal digits of the bit pattern, padded with leading zeros to `minDigits`. With `explicitPositiveSign`,
    /// every number begins with `+`. With `includePrefix`, `0x` precedes the digits.
    public static func hex(
        explicitPositiveSign: Bool = false, includePrefix: Bool = false, uppercase: Bool = false, minDigits: Int = 1
    ) -> OSLogIntegerFormatting {
        .init(16, explicitPositiveSign, includePrefix ? "0x" : "", uppercase, minDigits)
    }

    /// Octal digits of the bit pattern, padded with leading zeros to `minDigits`. With `explicitPositiveSign`, every
    /// number begins with `+`. With `includePrefix`, `0o` precedes the digits. `uppercase` has no effect.
    public static func octal(
        explicitPositiveSign: Bool = false, includePrefix: Bool = false, uppercase: Bool = false, minDigits: Int = 1
    ) -> OSLogIntegerFormatting {
        .init(8, explicitPositiveSign, includePrefix ? "0o" : "", uppercase, minDigits)
    }

    func text(of value: some FixedWidthInteger) -> String {
        // As in C, hexadecimal and octal digits represent the bit pattern.
        let digits =
            radix == 10
            ? String(value.magnitude) : String(unsigned(value), radix: radix, uppercase: uppercase)
        let zeros = String(repeating: "0", count: max(0, minDigits - digits.count))
        return (radix == 10 && value < 0 ? "-" : plus ? "+" : "") + prefix + zeros + digits
    }

    private func unsigned<Value: FixedWidthInteger>(_ value: Value) -> Value.Magnitude {
        Value.Magnitude(truncatingIfNeeded: value)
    }
}

/// How a floating-point number is written.
public struct OSLogFloatFormatting: Equatable, Sendable {
    private let conversion: String
    private let precision: Int?
    private let plus: Bool

    private init(_ conversion: String, _ precision: Int?, _ plus: Bool, _ uppercase: Bool) {
        self.conversion = uppercase ? conversion.uppercased() : conversion
        (self.precision, self.plus) = (precision, plus)
    }

    /// Fixed-point notation with six fractional digits, such as `0.500000`.
    public static var fixed: OSLogFloatFormatting { .fixed() }
    /// Hexadecimal notation with a binary exponent, such as `0x1p-1` for 0.5.
    public static var hex: OSLogFloatFormatting { .hex() }
    /// Exponential notation with six fractional digits, such as `5.000000e-01`.
    public static var exponential: OSLogFloatFormatting { .exponential() }
    /// Fixed-point or exponential notation, depending on the exponent, with up to six significant digits.
    public static var hybrid: OSLogFloatFormatting { .hybrid() }

    /// Fixed-point notation. `precision` is the number of fractional digits, six if nil. `uppercase` affects only
    /// infinity and NaN.
    public static func fixed(
        precision: Int? = nil, explicitPositiveSign: Bool = false, uppercase: Bool = false
    ) -> OSLogFloatFormatting {
        .init("f", precision, explicitPositiveSign, uppercase)
    }

    /// Hexadecimal notation with a binary exponent, such as `0x1p-1`, or `0X1P-1` with `uppercase`.
    public static func hex(explicitPositiveSign: Bool = false, uppercase: Bool = false) -> OSLogFloatFormatting {
        .init("a", nil, explicitPositiveSign, uppercase)
    }

    /// Exponential notation. `precision` is the number of fractional digits, six if nil. With `uppercase`, the exponent
    /// begins with `E`.
    public static func exponential(
        precision: Int? = nil, explicitPositiveSign: Bool = false, uppercase: Bool = false
    ) -> OSLogFloatFormatting {
        .init("e", precision, explicitPositiveSign, uppercase)
    }

    /// Fixed-point or exponential notation, depending on the exponent. `precision` is the maximum number of significant
    /// digits, six if nil. With `uppercase`, an exponent begins with `E`.
    public static func hybrid(
        precision: Int? = nil, explicitPositiveSign: Bool = false, uppercase: Bool = false
    ) -> OSLogFloatFormatting {
        .init("g", precision, explicitPositiveSign, uppercase)
    }

    func text(of value: Double) -> String {
        String(format: "%" + (plus ? "+" : "") + (precision.map { ".\(max(0, $0))" } ?? "") + conversion, value)
    }
}

/// How a Boolean is written.
public enum OSLogBoolFormat: Sendable {
    /// `true` or `false`.
    case truth
    /// `yes` or `no`.
    case answer
}
