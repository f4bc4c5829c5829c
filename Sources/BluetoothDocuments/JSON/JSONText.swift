/// The text of JSON, for documents and for the lines of programs.
package enum JSONText {
    /// A string in JSON (RFC 8259, 7). What a terminal would obey or hide is written as an escape as well: the text may be
    /// shown on one, and reads the same.
    package static func quoted(_ string: String) -> String {
        // Most strings need no second look.
        if string.utf8.allSatisfy(isPlain) { return "\"" + string + "\"" }
        var quoted = "\""
        for scalar in string.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            default:
                if scalar == "\"" || scalar == "\\" { quoted += "\\" }
                quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// Whether an octet of UTF-8 is a character that stands for itself.
    private static func isPlain(_ octet: UInt8) -> Bool {
        (0x20..<0x7F).contains(octet) && octet != UInt8(ascii: "\"") && octet != UInt8(ascii: "\\")
    }
}
