import BluetoothBase
import BluetoothValues
import TestSupport
import Testing

/// A value and its encoding.
struct Example<Value: CharacteristicValue & Equatable>: Sendable, CustomTestStringConvertible {
    var text: String
    var value: Value

    init(_ text: String, _ value: Value) {
        self.text = text
        self.value = value
    }

    var testDescription: String { text }

    /// The bytes decode to the value, and the value encodes to these bytes.
    func check(sourceLocation: SourceLocation = #_sourceLocation) throws {
        try checkDecoding(sourceLocation: sourceLocation)
        #expect(value.encoded == bytes(text), sourceLocation: sourceLocation)
    }

    /// The bytes decode to the value, which encodes to others.
    func checkDecoding(sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try Value(decoding: bytes(text)) == value, sourceLocation: sourceLocation)
    }
}

/// The error of decoding bytes; nil if there is none.
func failure<Value: CharacteristicValue>(of type: Value.Type, _ bytes: [UInt8]) -> DecodingFailure? {
    do throws(DecodingFailure) {
        _ = try Value(decoding: bytes.span)
        return nil
    } catch {
        return error
    }
}

/// A date that exists only in leap years.
let leapDay = DateTime(year: 2024, month: 2, day: 29, hours: 23, minutes: 59, seconds: 58)
