import BluetoothBase

/// Text from external sources, in a column of a terminal.
public enum CellText {
    /// The maximum number of combining marks on one character. More of them would cover the lines above and below.
    private static let mostMarks = 2

    /// The text in exactly the given number of columns: truncated or padded, with control characters escaped as in
    /// `quoted`.
    ///
    /// Widths are those that most terminals use: two columns for East Asian characters and for pictures, none for
    /// combining marks.
    public static func fitted(_ text: String, to columns: Int) -> String {
        guard columns > 0 else { return "" }
        var result = "", used = 0, marks = 0
        // The text before the last column, which an ellipsis may need.
        var cut: (text: String, columns: Int) = ("", 0)
        for scalar in text.unicodeScalars {
            let piece: String, width: Int
            switch scalar.properties.generalCategory {
            case _ where scalar.isInvisible:
                piece = scalar.escaped(asASCII: true)
                width = piece.utf8.count
            case .nonspacingMark, .enclosingMark:
                marks += 1
                (piece, width) = (marks <= mostMarks && used > 0 ? String(scalar) : "", 0)
            default: (piece, width) = (String(scalar), isWide(scalar) ? 2 : 1)
            }
            if width > 0 { marks = 0 }
            if used + width > columns {
                return cut.text + "…" + String(repeating: " ", count: columns - cut.columns - 1)
            }
            result += piece
            used += width
            if used < columns { cut = (result, used) }
        }
        return result + String(repeating: " ", count: columns - used)
    }

    /// The number of columns that a text without control characters takes.
    public static func width(of text: String) -> Int {
        text.unicodeScalars.reduce(0) { sum, scalar in
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .enclosingMark: sum
            default: sum + (isWide(scalar) ? 2 : 1)
            }
        }
    }

    /// Wraps a text without control characters to lines of at most `columns` columns. Lines are broken at spaces, and
    /// within a word only if a line has no spaces.
    public static func wrapped(_ text: String, to columns: Int) -> [String] {
        let columns = max(2, columns)
        var lines: [String] = [], line = "", used = 0
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            let width = width(of: String(word))
            if used > 0, used + 1 + width > columns {
                lines.append(line)
                (line, used) = ("", 0)
            } else if !lines.isEmpty || !line.isEmpty || used > 0 {
                line += " "
                used += 1
            }
            for character in word {
                let width = Self.width(of: String(character))
                if used + width > columns {
                    lines.append(line)
                    (line, used) = ("", 0)
                }
                line.append(character)
                used += width
            }
        }
        return lines + [line]
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
