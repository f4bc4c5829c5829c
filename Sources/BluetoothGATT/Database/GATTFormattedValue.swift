import BluetoothATT
import BluetoothBase

/// A value together with its format: that of a characteristic, or one part of an aggregate (Core 5.4, Vol 3, Part G,
/// 3.3.3.5 and 3.3.3.6).
public struct GATTFormattedValue: Hashable, Sendable {
    /// The octets of the value, least significant first.
    public var octets: [UInt8]
    /// The format that determines how `octets` are interpreted.
    public var format: GATTPresentationFormat

    /// Creates a value with its format. The length of `octets` is not checked; see `number`.
    public init(octets: [UInt8], format: GATTPresentationFormat) {
        self.octets = octets
        self.format = format
    }

    /// The number, with the exponent applied, in the unit of the format. Nil for text, structures and pairs of numbers,
    /// and if the value does not have the length of its format.
    public var number: Double? {
        guard let layout = format.layout, octets.count == layout.octetCount else { return nil }
        let bits = octets.reversed().reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        return switch layout {
        case .bits(let width): Double(bits & ~(~0 << UInt128(width)))
        case .unsigned(let width): Self.decimal(width == 128 ? bits : bits & ~(~0 << UInt128(width)), format.exponent)
        case .signed(let width): Self.decimal(Self.signed(bits, width), format.exponent)
        case .binary(32): Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        case .binary: Double(bitPattern: UInt64(truncatingIfNeeded: bits))
        case .medical(let width):
            Self.medical(bits, mantissaWidth: width == 16 ? 12 : 24, exponentWidth: width == 16 ? 4 : 8)
        case .pair: nil
        }
    }

    /// The binary number nearest to a decimal one. Powers of ten have no exact binary value, so this goes through text,
    /// which rounds only once.
    private static func decimal(_ mantissa: some BinaryInteger, _ exponent: some BinaryInteger) -> Double? {
        Double("\(mantissa)e\(exponent)")
    }

    /// The signed integer in the low bits.
    private static func signed(_ bits: UInt128, _ width: Int) -> Int128 {
        Int128(truncatingIfNeeded: bits << UInt128(128 - width)) >> Int128(128 - width)
    }

    /// An IEEE 11073-20601 floating-point number: a decimal exponent above a mantissa, with the special values at the
    /// ends of the mantissa's range.
    private static func medical(_ bits: UInt128, mantissaWidth: Int, exponentWidth: Int) -> Double? {
        let mantissa = signed(bits, mantissaWidth)
        let exponent = signed(bits >> UInt128(mantissaWidth), exponentWidth)
        let limit = Int128(1) << Int128(mantissaWidth - 1)
        guard exponent == 0 else { return decimal(mantissa, exponent) }
        switch mantissa {
        case limit - 2: return .infinity
        case 2 - limit: return -.infinity
        case limit - 1, -limit, 1 - limit: return .nan
        default: return decimal(mantissa, exponent)
        }
    }
}

extension GATTPresentationFormat {
    /// How to read the octets of a format (Assigned Numbers, 2.4.1). Widths are in bits.
    enum Layout {
        /// An unsigned integer that the exponent does not scale.
        case bits(Int)
        case unsigned(Int)
        case signed(Int)
        /// An IEEE 754 floating-point number.
        case binary(Int)
        /// An IEEE 11073-20601 floating-point number.
        case medical(Int)
        /// Two unsigned 16-bit integers.
        case pair

        /// The length in octets, rounded up if the format is not a whole number of octets (Core 5.4, Vol 3, Part G,
        /// 3.3.3.5.2).
        var octetCount: Int {
            switch self {
            case .bits(let width), .unsigned(let width), .signed(let width), .binary(let width), .medical(let width):
                (width + 7) / 8
            case .pair: 4
            }
        }
    }

    /// Nil for formats of variable length, and for reserved ones.
    var layout: Layout? {
        switch format {
        case 0x01: .bits(1)
        case 0x02: .bits(2)
        case 0x03: .bits(4)
        case 0x04...0x0B: .unsigned(Self.widths[Int(format - 0x04)])
        case 0x0C...0x13: .signed(Self.widths[Int(format - 0x0C)])
        case 0x14: .binary(32)
        case 0x15: .binary(64)
        case 0x16: .medical(16)
        case 0x17: .medical(32)
        case 0x18: .pair
        default: nil
        }
    }

    /// The widths of integers, in the same order for unsigned and signed formats.
    private static let widths = [8, 12, 16, 24, 32, 48, 64, 128]

    /// The length of a value of this format, in octets; nil if the length varies or the format is reserved.
    public var octetCount: Int? { layout?.octetCount }
}

extension GATTAggregateFormat {
    /// Splits a value into its parts.
    ///
    /// - Parameter formats: The contents of the descriptors at the handles that this one lists, in that order.
    /// - Returns: One part for each format. Nil if the number of formats differs from the number of handles, or if the
    ///   value does not have their total length. Only the last format may have a variable length.
    public func parts(of value: [UInt8], formats: [GATTPresentationFormat]) -> [GATTFormattedValue]? {
        guard formats.count == self.formats.count else { return nil }
        var parts: [GATTFormattedValue] = []
        var rest = value[...]
        for (index, format) in formats.enumerated() {
            let isLast = index == formats.count - 1
            guard let count = format.octetCount ?? (isLast ? rest.count : nil), count <= rest.count else { return nil }
            parts.append(GATTFormattedValue(octets: Array(rest.prefix(count)), format: format))
            rest = rest.dropFirst(count)
        }
        return rest.isEmpty ? parts : nil
    }
}
