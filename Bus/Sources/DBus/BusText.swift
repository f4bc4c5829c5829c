/// Text that a D-Bus message can carry.
///
/// sd-bus does not send a message with any other text. The bus disconnects a program that sends one regardless. Devices
/// and clients choose most of the text here, so every string passes through this type.
package enum BusText {
    /// The text without the characters that sd-bus rejects: NUL becomes nothing, and noncharacters become U+FFFD.
    package static func valid(_ text: String) -> String {
        if isValid(text) { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where scalar.value != 0 {
            result.append(isNoncharacter(scalar) ? "\u{FFFD}" : scalar)
        }
        return String(result)
    }

    /// Octets from a device, as text. Invalid UTF-8 is replaced by U+FFFD.
    package static func repairing(_ octets: some Collection<UInt8>) -> String {
        valid(String(decoding: octets, as: UTF8.self))
    }

    /// Whether sd-bus accepts the text. Every Swift string is UTF-8 already.
    package static func isValid(_ text: String) -> Bool {
        // Noncharacters begin with EF or a larger octet in UTF-8, and most text has none of these.
        if text.utf8.allSatisfy({ $0 != 0 && $0 < 0xEF }) { return true }
        return text.unicodeScalars.allSatisfy { $0.value != 0 && !isNoncharacter($0) }
    }

    /// The longest beginning of the text with at most this many octets in UTF-8.
    package static func prefix(_ text: String, octets: Int) -> String {
        guard text.utf8.count > octets else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: octets)
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }

    private static func isNoncharacter(_ scalar: Unicode.Scalar) -> Bool {
        (0xFDD0...0xFDEF).contains(scalar.value) || scalar.value & 0xFFFE == 0xFFFE
    }
}
