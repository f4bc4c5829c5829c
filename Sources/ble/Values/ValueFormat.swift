import ArgumentParser
import BluetoothBase
import BluetoothLE
import BluetoothCommandLine

/// A format in which the octets of a value are shown, and in which a user enters them.
enum ValueFormat: Sendable {
    case hex
    case utf8
    /// Little-endian numbers, one after the other.
    case integer(IntegerFormat)
    /// IEEE 754 single precision, little-endian.
    case float
    case typed(TypedFormat)
}

/// An integer of one, two or four octets.
enum IntegerFormat: String, CaseIterable, Sendable {
    case u8, u16, u32, i8, i16, i32

    var size: Int {
        switch self {
        case .u8, .i8: 1
        case .u16, .i16: 2
        case .u32, .i32: 4
        }
    }

    private var isSigned: Bool { rawValue.first == "i" }

    private var range: ClosedRange<Int64> {
        let bits = 8 * size
        return isSigned ? -(1 << (bits - 1))...(1 << (bits - 1)) - 1 : 0...(1 << bits) - 1
    }

    /// The number in the given octets, of which there are `size`.
    func number(_ octets: ArraySlice<UInt8>) -> Int64 {
        let value = octets.reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return value > range.upperBound ? value - (1 << (8 * size)) : value
    }

    /// The octets of a number; nil if the text is not a number, or if the number is out of range.
    func octets(_ text: Substring) -> [UInt8]? {
        let number = text.hasPrefix("0x") ? Int64(text.dropFirst(2), radix: 16) : Int64(text)
        guard let number, range.contains(number) else { return nil }
        return (0..<size).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}

// MARK: - Names

extension ValueFormat: ExpressibleByArgument, CustomStringConvertible {
    init?(argument: String) {
        switch argument {
        case "hex": self = .hex
        case "utf8": self = .utf8
        case "float": self = .float
        default:
            if let format = IntegerFormat(rawValue: argument) {
                self = .integer(format)
            } else if let format = TypedFormat.all.first(where: { $0.name == argument }) {
                self = .typed(format)
            } else {
                return nil
            }
        }
    }

    static var allValueStrings: [String] {
        ["hex", "utf8"] + IntegerFormat.allCases.map(\.rawValue) + ["float"] + TypedFormat.all.map(\.name)
    }

    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

    var description: String {
        switch self {
        case .hex: "hex"
        case .utf8: "utf8"
        case .integer(let format): format.rawValue
        case .float: "float"
        case .typed(let format): format.name
        }
    }
}

// MARK: - Octets

/// A value decoded in a format.
enum DecodedValue: Equatable, Sendable {
    case octets([UInt8])
    case text(String)
    case integers([Int64])
    case numbers([Double])
    case fields([ValueField])
    /// The octets do not have the layout. The text states the reason.
    case malformed([UInt8], String)
}

extension ValueFormat {
    func decode(_ octets: [UInt8]) -> DecodedValue {
        switch self {
        case .hex: return .octets(octets)
        case .utf8: return .text(String(decoding: octets, as: UTF8.self))
        case .integer(let format):
            guard let parts = parts(octets, format.size) else { return misfit(octets) }
            return .integers(parts.map(format.number))
        case .float:
            guard let parts = parts(octets, 4) else { return misfit(octets) }
            return .numbers(
                parts.map {
                    Double(Float(bitPattern: UInt32(truncatingIfNeeded: IntegerFormat.u32.number($0))))
                })
        case .typed(let format):
            do throws(DecodingFailure) {
                return .fields(try format.fields(octets))
            } catch {
                return .malformed(octets, "not \(format.name): \(error)")
            }
        }
    }

    private func parts(_ octets: [UInt8], _ size: Int) -> [ArraySlice<UInt8>]? {
        guard !octets.isEmpty, octets.count.isMultiple(of: size) else { return nil }
        return stride(from: 0, to: octets.count, by: size).map { octets[$0..<$0 + size] }
    }

    private func misfit(_ octets: [UInt8]) -> DecodedValue {
        .malformed(octets, "not \(self): \(counted(octets.count, "octet")) is the wrong length")
    }

    /// Decodes a value for which no format was requested: as the fields of a known characteristic, as text if it is
    /// printable, and otherwise as octets.
    static func automatic(_ octets: [UInt8], of uuid: BluetoothUUID?) -> DecodedValue {
        if let typed = uuid.flatMap(TypedFormat.of) {
            let decoded = ValueFormat.typed(typed).decode(octets)
            // Some devices misuse characteristics. Their octets are more useful than the reason why they are malformed.
            if case .fields(let fields) = decoded, !fields.isEmpty { return decoded }
            return .octets(octets)
        }
        guard octets.count > 1, let text = String(validating: octets, as: UTF8.self), quoted(text) == "\"\(text)\""
        else {
            return .octets(octets)
        }
        return .text(text)
    }

    /// Encodes text that a user typed.
    ///
    /// - Throws: a usage failure that states what is accepted.
    func encode(_ text: String) throws -> [UInt8] {
        let octets: [UInt8]?
        var expectation = "\(self) is one number or several, separated by commas"
        switch self {
        case .hex:
            octets = Self.octets(hexadecimal: text)
            expectation = "give octets in hexadecimal, such as 01FF or 01:FF, or another --format"
        case .utf8: octets = Array(text.utf8)
        case .integer(let format): octets = Self.join(text, format.octets)
        case .float:
            octets = Self.join(text) { part in
                Float(part).map { number in (0..<4).map { UInt8(truncatingIfNeeded: number.bitPattern >> (8 * $0)) } }
            }
        case .typed(let format):
            guard let encode = format.octets else {
                throw CommandFailure(
                    .usage, "a \(format.name) can be shown, not written; give its octets with --format hex")
            }
            octets = encode(text)
            expectation = "it is not a valid \(format.name)"
        }
        guard let octets else { throw CommandFailure(.usage, "\(quoted(text)) cannot be written: \(expectation)") }
        return octets
    }

    private static func join(_ text: String, _ encode: (Substring) -> [UInt8]?) -> [UInt8]? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(encode)
        return parts.contains { $0 == nil } ? nil : parts.flatMap { $0 ?? [] }
    }

    private static func octets(hexadecimal text: String) -> [UInt8]? {
        var digits = text[...]
        if digits.hasPrefix("0x") { digits = digits.dropFirst(2) }
        digits.removeAll { $0 == " " || $0 == ":" }
        guard digits.count.isMultiple(of: 2), digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        var octets: [UInt8] = []
        while let pair = digits.isEmpty ? nil : digits.prefix(2) {
            guard let octet = UInt8(pair, radix: 16) else { return nil }
            octets.append(octet)
            digits = digits.dropFirst(2)
        }
        return octets
    }
}
