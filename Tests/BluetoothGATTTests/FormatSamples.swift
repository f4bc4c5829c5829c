import BluetoothBase
import BluetoothGATT
import TestSupport
import Testing

/// A value of each format (Assigned Numbers, 2.4.1).
struct FormatSample: CustomTestStringConvertible, Sendable {
    var format: UInt8
    var octets: String
    /// The number without an exponent, in decimal; nil for a value that is not one number.
    var number: String?
    /// Whether an exponent applies.
    var isScaled: Bool
    var testDescription: String { "format \(format)" }

    init(_ format: UInt8, _ octets: String, _ number: String? = nil, isScaled: Bool = false) {
        self.format = format
        self.octets = octets
        self.number = number
        self.isScaled = isScaled
    }

    static let all = [
        FormatSample(0x01, "01", "1"),
        FormatSample(0x02, "03", "3"),
        FormatSample(0x03, "0F", "15"),
        FormatSample(0x04, "FF", "255", isScaled: true),
        FormatSample(0x05, "FF 0F", "4095", isScaled: true),
        FormatSample(0x06, "34 12", "4660", isScaled: true),
        FormatSample(0x07, "56 34 12", "1193046", isScaled: true),
        FormatSample(0x08, "78 56 34 12", "305419896", isScaled: true),
        FormatSample(0x09, "FF FF FF FF FF FF", "281474976710655", isScaled: true),
        FormatSample(0x0A, "FF FF FF FF FF FF FF FF", "18446744073709551615", isScaled: true),
        FormatSample(
            0x0B, "FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF", "340282366920938463463374607431768211455",
            isScaled: true),
        FormatSample(0x0C, "FF", "-1", isScaled: true),
        FormatSample(0x0D, "00 08", "-2048", isScaled: true),
        FormatSample(0x0E, "00 80", "-32768", isScaled: true),
        FormatSample(0x0F, "FE FF FF", "-2", isScaled: true),
        FormatSample(0x10, "00 00 00 80", "-2147483648", isScaled: true),
        FormatSample(0x11, "00 00 00 00 00 80", "-140737488355328", isScaled: true),
        FormatSample(0x12, "FD FF FF FF FF FF FF FF", "-3", isScaled: true),
        FormatSample(
            0x13, "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 80", "-170141183460469231731687303715884105728",
            isScaled: true),
        FormatSample(0x14, "00 00 80 3F", "1"),
        FormatSample(0x15, "00 00 00 00 00 00 F8 BF", "-1.5"),
        FormatSample(0x16, "64 E0", "1"),
        FormatSample(0x17, "6E 01 00 FF", "36.6"),
        FormatSample(0x18, "01 00 02 00"),
        FormatSample(0x19, "E2 82 AC 35"),
        FormatSample(0x1A, "AC 20 35 00"),
        FormatSample(0x1B, "01 02 03 04 05"),
    ]

    /// The exponents at the ends of their range, and none.
    static let exponents: [Int8] = [-128, 0, 127]

    /// Formats to aggregate: two to five of them, of all kinds but those of any length.
    static let aggregates: [[UInt8]] = [
        [0x01, 0x04], [0x0E, 0x17, 0x03], [0x0B, 0x0A], [0x02, 0x05, 0x0D, 0x14], [0x15, 0x16, 0x18, 0x13, 0x0C],
    ]

    static func samples(_ formats: [UInt8]) -> [FormatSample] { formats.map { all[Int($0) - 1] } }

    func presentation(exponent: Int8) -> GATTPresentationFormat {
        GATTPresentationFormat(format: format, exponent: exponent, unit: "2728", description: 0x0102)
    }

    /// The octets of that descriptor.
    func descriptor(exponent: Int8) -> String {
        "\(hexadecimal(format)) \(hexadecimal(UInt8(bitPattern: exponent))) 28 27 01 02 01"
    }

    /// The number that the value stands for.
    func scaled(by exponent: Int8) -> Double? {
        number.flatMap { Double(isScaled ? "\($0)e\(exponent)" : $0) }
    }
}

/// Two octets of a handle, in hexadecimal.
func littleEndian(_ value: Int) -> String { "\(hexadecimal(value & 0xFF)) \(hexadecimal(value >> 8))" }
