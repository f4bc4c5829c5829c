import BluetoothBase
import BluetoothGATT
import FoundationEssentials

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

/// A key as 32 hexadecimal digits, most significant digit first.
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

/// The attributes discovered on a server, in Base64. If they are damaged, the value is nil: discovery has to be
/// repeated, but the bond remains usable.
struct Attributes: Codable {
    var value: AttributeCache?

    init(value: AttributeCache?) { self.value = value }

    init(from decoder: any Decoder) throws {
        let text = try? decoder.singleValueContainer().decode(String.self)
        // Base64 encodes three octets in four characters. Longer text is not even decoded.
        guard let text, text.utf8.count <= (AttributeCache.maximumLength + 2) / 3 * 4,
            let data = Data(base64Encoded: text)
        else { return }
        value = try? AttributeCache(decoding: [UInt8](data).span)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        var writer = ByteWriter()
        value?.encode(into: &writer)
        try container.encode(Data(writer.bytes).base64EncodedString())
    }
}
