import BluetoothBase

/// Text from outside, in a column of a terminal.
public enum CellText {
    /// How many marks may be on one character: beyond that they would cover the lines above and below.
    private static let mostMarks = 2

    /// The text in exactly so many columns: cut off or filled up, and with control characters escaped as in `quoted`.
    ///
    /// Widths are those that most terminals use: two columns for the characters of East Asia and for pictures, none for
    /// marks.
    public static func fitted(_ text: String, to columns: Int) -> String {
        guard columns > 0 else { return "" }
        var result = "", used = 0, marks = 0
        // What stands before the last column that an ellipsis may need.
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

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
