import BluetoothBase
import BluetoothValues
import TestSupport
import Testing

/// A value, and how it is sent.
struct Example<Value: CharacteristicValue & Equatable>: Sendable, CustomTestStringConvertible {
    var text: String
    var value: Value

    init(_ text: String, _ value: Value) {
        self.text = text
        self.value = value
    }

    var testDescription: String { text }

    /// The bytes say the value, and the value is sent as these bytes.
    func check(sourceLocation: SourceLocation = #_sourceLocation) throws {
        try checkDecoding(sourceLocation: sourceLocation)
        #expect(value.encoded == bytes(text), sourceLocation: sourceLocation)
    }

    /// The bytes say the value, which is sent as others.
    func checkDecoding(sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try Value(decoding: bytes(text)) == value, sourceLocation: sourceLocation)
    }
}

/// Why bytes are not a value; nil where they are one.
func failure<Value: CharacteristicValue>(of type: Value.Type, _ bytes: [UInt8]) -> DecodingFailure? {
    do throws(DecodingFailure) {
        _ = try Value(decoding: bytes.span)
        return nil
    } catch {
        return error
    }
}

/// A date with a day that is in few years.
let leapDay = DateTime(year: 2024, month: 2, day: 29, hours: 23, minutes: 59, seconds: 58)
