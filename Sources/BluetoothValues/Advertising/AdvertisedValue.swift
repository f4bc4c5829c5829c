import BluetoothBase

/// A value that devices such as beacons and sensors advertise in a format with a public specification.
///
/// To add a format to this package, write a conforming type and add it to `AdvertisedFormats.all`. All code that shows
/// advertised values then supports it. Your own types can also conform, and are decoded in the same way.
public protocol AdvertisedValue: Equatable, Sendable {
    /// The name of the format for people and programs, in lower case and without spaces, for example `ruuvitag-5`.
    static var formatName: String { get }
    /// The part of the advertising data that contains values of this format.
    static var container: AdvertisedContainer { get }

    /// Decodes a value from service data after its UUID, or from manufacturer data after its company identifier.
    ///
    /// - Throws: `DecodingFailure` if the data has another format. Several formats may share a container.
    init(decoding bytes: Span<UInt8>) throws(DecodingFailure)

    /// Appends the encoded value. Numbers outside the range of a field are clamped to it.
    func encode(into writer: inout ByteWriter)

    /// The individual fields of the value, for display. Fields without a value are omitted.
    var fields: [AdvertisedField] { get }
}

extension AdvertisedValue {
    /// Decodes a value from any collection of octets.
    ///
    /// - Throws: the errors of `init(decoding:)`.
    public init(decoding bytes: some Collection<UInt8>) throws(DecodingFailure) {
        let bytes = Array(bytes)
        try self.init(decoding: bytes.span)
    }

    /// The encoded value.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        encode(into: &writer)
        return writer.bytes
    }
}

/// An AD structure for data in a format that a service or a company defines (Core Supplement, Part A, 1.4 and 1.11).
@nonexhaustive
public enum AdvertisedContainer: Hashable, Sendable {
    /// The data of a service.
    case serviceData(BluetoothUUID)
    /// The data of a company, given by its company identifier.
    case manufacturerData(UInt16)
}

/// A field of an advertised value.
public struct AdvertisedField: Equatable, Sendable {
    /// The value of a field: a number, a flag or text.
    public enum Value: Equatable, Sendable {
        case number(FixedPointNumber)
        case flag(Bool)
        /// Text from the device, which may contain any characters.
        case text(String)
    }

    /// The name of the field, in lower case and with underscores instead of spaces, for example `temperature`.
    public var name: String
    /// The value: a number in `unit`, a flag or text.
    public var value: Value
    /// The unit of a number, for example `°C`; empty if it has none.
    public var unit: String

    /// Creates a field. Pass a unit, such as `°C`, only with a number.
    public init(_ name: String, _ value: Value, unit: String = "") {
        self.name = name
        self.value = value
        self.unit = unit
    }

    init(_ name: String, _ number: some BinaryInteger, unit: String = "") {
        self.init(name, .number(FixedPointNumber(Int64(clamping: number))), unit: unit)
    }

    /// Creates a field for a number, rounded to `places` decimal places.
    init(_ name: String, _ number: Double, places: Int, unit: String = "") {
        self.init(name, .number(FixedPointNumber(nearest: number, places: places)), unit: unit)
    }
}

/// A decimal number as sent by a sensor. It represents values such as 25.06 exactly, unlike a binary fraction.
public struct FixedPointNumber: Hashable, Sendable {
    /// The number without its decimal point, for example 2506.
    public var digits: Int64
    /// The number of digits after the decimal point, 0 to 9.
    public var places: Int

    /// The maximum number of decimal places.
    public static let maximumPlaces = 9

    /// Creates the number `digits` × 10^-`places`. For example, 2506 with two decimal places is 25.06. `places` is
    /// clamped to 0 to 9.
    public init(_ digits: Int64, places: Int = 0) {
        self.digits = digits
        self.places = min(max(places, 0), Self.maximumPlaces)
    }

    /// Creates the nearest number with `places` decimal places. Values that do not fit into 64 bits are clamped, and
    /// NaN becomes 0.
    public init(nearest value: Double, places: Int) {
        self.init(0, places: places)
        var scaled = value
        for _ in 0..<self.places { scaled *= 10 }
        scaled.round()
        // 2^63 is the first value that does not fit.
        digits = Int64(exactly: scaled) ?? (scaled.isNaN ? 0 : scaled < 0 ? .min : .max)
    }

    /// The nearest `Double`.
    public var doubleValue: Double {
        var divisor = 1.0
        for _ in 0..<places { divisor *= 10 }
        return Double(digits) / divisor
    }
}

extension FixedPointNumber: LosslessStringConvertible {
    /// Parses digits with an optional minus sign and decimal point, for example `-0.5`. Returns nil for any other text.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let fraction = parts.count == 2 ? parts[1] : ""
        guard let whole = parts.first, fraction.utf8.count <= Self.maximumPlaces,
            parts.count == 1 || (!fraction.isEmpty && fraction.utf8.allSatisfy(\.isDecimalDigit)),
            whole.utf8.drop(while: { $0 == UInt8(ascii: "-") }).allSatisfy(\.isDecimalDigit),
            let digits = Int64(whole + fraction), Int64(whole) != nil
        else { return nil }
        self.init(digits, places: fraction.utf8.count)
    }

    /// All digits of the number, including the decimal point, for example `25.06` or `0.500`.
    public var description: String {
        let text = String(digits.magnitude)
        let padded = String(repeating: "0", count: max(0, places + 1 - text.utf8.count)) + text
        let sign = digits < 0 ? "-" : ""
        return places == 0 ? sign + padded : "\(sign)\(padded.dropLast(places)).\(padded.suffix(places))"
    }
}

extension UInt8 {
    fileprivate var isDecimalDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
