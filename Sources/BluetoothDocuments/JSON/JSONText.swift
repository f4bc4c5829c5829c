import BluetoothBase

/// Writes JSON text, for documents and for the output of programs.
public enum JSONText {
    /// Returns a JSON string (RFC 8259, 7). Characters that a terminal would interpret or hide are also escaped, so
    /// that the text is safe to display. Its meaning is unchanged.
    public static func quoted(_ string: String) -> String {
        var quoted: [UInt8] = []
        append(string, to: &quoted)
        return String(decoding: quoted, as: UTF8.self)
    }

    /// Appends a JSON string in UTF-8, with the escapes of `quoted`.
    package static func append(_ string: String, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        // Most strings contain no characters to escape.
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

    /// Returns whether a UTF-8 octet is an ASCII character that needs no escape.
    private static func isPlain(_ octet: UInt8) -> Bool {
        (0x20..<0x7F).contains(octet) && octet != UInt8(ascii: "\"") && octet != UInt8(ascii: "\\")
    }
}
