import BluetoothBase

/// A value that is written as text.
struct Text<Value: LosslessStringConvertible>: Codable {
    var value: Value

    init(_ value: Value) { self.value = value }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Value(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "")
        }
        self.value = value
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value.description)
    }
}

/// A key as 32 hexadecimal digits, the most significant first.
struct HexadecimalKey: Codable {
    var value: UInt128

    init(_ value: UInt128) { self.value = value }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard text.utf8.count == 32, text.utf8.allSatisfy(\.isHexDigit), let value = UInt128(text, radix: 16) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "")
        }
        self.value = value
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        let digits = String(value, radix: 16)
        try container.encode(String(repeating: "0", count: 32 - digits.count) + digits)
    }
}
