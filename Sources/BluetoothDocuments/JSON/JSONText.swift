import BluetoothBase

/// The text of JSON, for documents and for the lines of programs.
public enum JSONText {
    /// A string in JSON (RFC 8259, 7). What a terminal would obey or hide is written as an escape as well: the text may be
    /// shown on one, and reads the same.
    public static func quoted(_ string: String) -> String {
        var quoted: [UInt8] = []
        append(string, to: &quoted)
        return String(decoding: quoted, as: UTF8.self)
    }

    /// Appends a string in JSON, in UTF-8, as `quoted` makes it.
    package static func append(_ string: String, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        // Most strings need no second look.
        var string = string
        let isWhole = string.withUTF8 { octets in
            guard octets.allSatisfy(Self.isPlain) else { return false }
            text.append(contentsOf: octets)
            return true
        }
        if !isWhole {
            for scalar in string.unicodeScalars { append(scalar, to: &text) }
        }
        text.append(UInt8(ascii: "\""))
    }

    private static func append(_ scalar: Unicode.Scalar, to text: inout [UInt8]) {
        guard scalar.isInvisible else {
            if scalar == "\"" || scalar == "\\" { text.append(UInt8(ascii: "\\")) }
            return text.append(contentsOf: UTF8.encode(scalar) ?? .init())
        }
        for unit in UTF16.encode(scalar) ?? .init() {
            let digits = String(unit, radix: 16)
            text.append(contentsOf: ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
        }
    }

    /// Whether an octet of UTF-8 is a character that stands for itself.
    private static func isPlain(_ octet: UInt8) -> Bool {
        (0x20..<0x7F).contains(octet) && octet != UInt8(ascii: "\"") && octet != UInt8(ascii: "\\")
    }
}
