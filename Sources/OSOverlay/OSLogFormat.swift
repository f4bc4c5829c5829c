import Foundation

/// The width of a value in the log.
public struct OSLogStringAlignment: Equatable, Sendable {
    private enum Side { case none, left, right }

    private let side: Side
    private let columns: Int

    /// As long as the value is.
    public static var none: OSLogStringAlignment { .init(side: .none, columns: 0) }
    /// Spaces follow a value of fewer characters.
    public static func left(columns: Int) -> OSLogStringAlignment { .init(side: .left, columns: columns) }
    /// Spaces precede a value of fewer characters.
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

    public static var decimal: OSLogIntegerFormatting { .init() }
    public static var hex: OSLogIntegerFormatting { .hex() }
    public static var octal: OSLogIntegerFormatting { .octal() }

    public static func decimal(explicitPositiveSign: Bool = false, minDigits: Int = 1) -> OSLogIntegerFormatting {
        .init(10, explicitPositiveSign, "", false, minDigits)
    }

    public static func hex(
        explicitPositiveSign: Bool = false, includePrefix: Bool = false, uppercase: Bool = false, minDigits: Int = 1
    ) -> OSLogIntegerFormatting {
        .init(16, explicitPositiveSign, includePrefix ? "0x" : "", uppercase, minDigits)
    }

    public static func octal(
        explicitPositiveSign: Bool = false, includePrefix: Bool = false, uppercase: Bool = false, minDigits: Int = 1
    ) -> OSLogIntegerFormatting {
        .init(8, explicitPositiveSign, includePrefix ? "0o" : "", uppercase, minDigits)
    }

    func text(of value: some FixedWidthInteger) -> String {
        // As with C's conversions, digits other than decimal ones are those of the pattern of bits.
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

/// How a number with a fraction is written.
public struct OSLogFloatFormatting: Equatable, Sendable {
    private let conversion: String
    private let precision: Int?
    private let plus: Bool

    private init(_ conversion: String, _ precision: Int?, _ plus: Bool, _ uppercase: Bool) {
        self.conversion = uppercase ? conversion.uppercased() : conversion
        (self.precision, self.plus) = (precision, plus)
    }

    public static var fixed: OSLogFloatFormatting { .fixed() }
    public static var hex: OSLogFloatFormatting { .hex() }
    public static var exponential: OSLogFloatFormatting { .exponential() }
    public static var hybrid: OSLogFloatFormatting { .hybrid() }

    public static func fixed(
        precision: Int? = nil, explicitPositiveSign: Bool = false, uppercase: Bool = false
    ) -> OSLogFloatFormatting {
        .init("f", precision, explicitPositiveSign, uppercase)
    }

    public static func hex(explicitPositiveSign: Bool = false, uppercase: Bool = false) -> OSLogFloatFormatting {
        .init("a", nil, explicitPositiveSign, uppercase)
    }

    public static func exponential(
        precision: Int? = nil, explicitPositiveSign: Bool = false, uppercase: Bool = false
    ) -> OSLogFloatFormatting {
        .init("e", precision, explicitPositiveSign, uppercase)
    }

    public static func hybrid(
        precision: Int? = nil, explicitPositiveSign: Bool = false, uppercase: Bool = false
    ) -> OSLogFloatFormatting {
        .init("g", precision, explicitPositiveSign, uppercase)
    }

    func text(of value: Double) -> String {
        String(format: "%" + (plus ? "+" : "") + (precision.map { ".\(max(0, $0))" } ?? "") + conversion, value)
    }
}

/// How a truth value is written.
public enum OSLogBoolFormat: Sendable {
    /// `true`, `false`.
    case truth
    /// `yes`, `no`.
    case answer
}
