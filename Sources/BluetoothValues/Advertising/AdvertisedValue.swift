import BluetoothBase

/// A value that devices advertise, in a format with a public specification: beacons, sensors.
///
/// To add a format, write a type that conforms, and add it to `AdvertisedFormats.all`: everything that shows advertised
/// values knows it then. Your own types can conform as well, and are decoded like these.
public protocol AdvertisedValue: Equatable, Sendable {
    /// The format's name for people and programs, in lower case and without spaces: `ruuvitag-5`.
    static var formatName: String { get }
    /// Where in the advertising data such values are.
    static var container: AdvertisedContainer { get }

    /// Reads a value: the service data behind its UUID, or the manufacturer data behind its company identifier.
    ///
    /// - Throws: `DecodingFailure` if it is something else. Several formats may share a container.
    init(decoding bytes: Span<UInt8>) throws(DecodingFailure)

    /// Appends the value as it is advertised. Numbers outside the range of a field are clamped to it.
    func encode(into writer: inout ByteWriter)

    /// What the value says, one by one, for display. Fields without a value are left out.
    var fields: [AdvertisedField] { get }
}

extension AdvertisedValue {
    /// Reads a value from any collection of octets.
    ///
    /// - Throws: the errors of `init(decoding:)`.
    public init(decoding bytes: some Collection<UInt8>) throws(DecodingFailure) {
        let bytes = Array(bytes)
        try self.init(decoding: bytes.span)
    }

    /// The value as it is advertised.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        encode(into: &writer)
        return writer.bytes
    }
}

/// An AD structure whose meaning somebody has defined (Core Supplement, Part A, 1.4 and 1.11).
public enum AdvertisedContainer: Hashable, Sendable {
    /// Data of a service.
    case serviceData(BluetoothUUID)
    /// Data of a company, by its identifier.
    case manufacturerData(UInt16)
}

/// One thing that an advertised value says.
public struct AdvertisedField: Equatable, Sendable {
    public enum Value: Equatable, Sendable {
        case number(FixedPointNumber)
        case flag(Bool)
        /// Text from the device: it may contain anything.
        case text(String)
    }

    /// What it is, in lower case and with underscores for spaces: `temperature`.
    public var name: String
    public var value: Value
    /// The unit of a number, such as `°C`; empty if it has none.
    public var unit: String

    public init(_ name: String, _ value: Value, unit: String = "") {
        self.name = name
        self.value = value
        self.unit = unit
    }

    init(_ name: String, _ number: some BinaryInteger, unit: String = "") {
        self.init(name, .number(FixedPointNumber(Int64(clamping: number))), unit: unit)
    }

    /// A number with so many decimal places.
    init(_ name: String, _ number: Double, places: Int, unit: String = "") {
        self.init(name, .number(FixedPointNumber(nearest: number, places: places)), unit: unit)
    }
}

/// A decimal number as a sensor sends it: 25.06 is exactly that, which no binary fraction is.
public struct FixedPointNumber: Hashable, Sendable {
    /// The number without its point: 2506.
    public var digits: Int64
    /// How many of the digits are behind the point: 0 to 9.
    public var places: Int

    /// The most places that a number has.
    public static let maximumPlaces = 9

    public init(_ digits: Int64, places: Int = 0) {
        self.digits = digits
        self.places = min(max(places, 0), Self.maximumPlaces)
    }

    /// The nearest number with so many places; the nearest that 64 bits hold, and 0 for NaN.
    public init(nearest value: Double, places: Int) {
        self.init(0, places: places)
        var scaled = value
        for _ in 0..<self.places { scaled *= 10 }
        scaled.round()
        // 2^63 is the first that does not fit.
        digits = Int64(exactly: scaled) ?? (scaled.isNaN ? 0 : scaled < 0 ? .min : .max)
    }

    /// The nearest binary number.
    public var doubleValue: Double {
        var divisor = 1.0
        for _ in 0..<places { divisor *= 10 }
        return Double(digits) / divisor
    }
}

extension FixedPointNumber: LosslessStringConvertible {
    /// Reads digits with a sign and a point, such as `-0.5`; nil for anything else.
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

    /// All its digits, the point among them: `25.06`, `0.500`.
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
