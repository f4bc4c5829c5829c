/// `value` in upper-case hexadecimal, padded with zeros to `digits`.
public func hexadecimal(_ value: some BinaryInteger, digits: Int = 2) -> String {
    let value = UInt64(truncatingIfNeeded: value)
    let count = Swift.max(digits, (67 - value.leadingZeroBitCount) / 4, 1)
    return String(unsafeUninitializedCapacity: count) { text in
        for index in 0..<count {
            text[index] = UInt8(truncatingIfNeeded: value >> (4 * (count - 1 - index))).lowHexadecimalDigit
        }
        return count
    }
}

extension Collection where Element == UInt8 {
    /// The bytes as upper-case hexadecimal, two digits each, joined by `separator`.
    public func hexadecimal(separator: String = " ") -> String {
        // Converted octet by octet, because all displayed device data passes through here.
        var text: [UInt8] = []
        text.reserveCapacity(count * (2 + separator.utf8.count))
        for (index, byte) in enumerated() {
            if index > 0 { text.append(contentsOf: separator.utf8) }
            text.append(hexadecimal: byte)
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension Span<UInt8> {
    /// The bytes as upper-case hexadecimal, two digits each, joined by `separator`.
    public func hexadecimal(separator: String = " ") -> String {
        Array(self).hexadecimal(separator: separator)
    }
}

extension UInt8 {
    /// The lower four bits as a digit in ASCII.
    fileprivate var lowHexadecimalDigit: UInt8 {
        let value = self & 0xF
        return value + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "A") - 10)
    }
}

extension [UInt8] {
    /// Appends two upper-case hexadecimal digits in ASCII.
    package mutating func append(hexadecimal byte: UInt8) {
        append((byte >> 4).lowHexadecimalDigit)
        append(byte.lowHexadecimalDigit)
    }

    /// Reads hexadecimal text, with or without spaces, colons or line breaks between bytes.
    public init?(hexadecimal text: String) {
        var bytes: [UInt8] = []
        var pending: UInt8?
        for character in text.utf8 {
            if character == UInt8(ascii: " ") || character == UInt8(ascii: ":") || character == UInt8(ascii: "\n") {
                guard pending == nil else { return nil }
                continue
            }
            guard let digit = character.hexDigitValue else { return nil }
            if let high = pending {
                bytes.append(high << 4 | digit)
                pending = nil
            } else {
                pending = digit
            }
        }
        guard pending == nil else { return nil }
        self = bytes
    }
}

extension UInt8 {
    var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    package var isHexDigit: Bool { hexDigitValue != nil }
}
