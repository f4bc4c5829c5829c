import BluetoothBase

/// A GLib key file: groups (`[Group]`) of keys and values (`Key=Value`).
struct KeyFile {
    private var groups: [String: [String: String]] = [:]

    /// Parses the text. Comments and malformed lines are skipped.
    init(_ text: String) {
        var group = ""
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.drop { $0 == " " || $0 == "\t" }
            if line.hasPrefix("[") {
                group = String(line.dropFirst().prefix { $0 != "]" })
                groups[group] = groups[group] ?? [:]
            } else if !line.hasPrefix("#"), let equals = line.firstIndex(of: "=") {
                // The last value of a key wins, as in GLib.
                groups[group]?[Self.trimmed(line[..<equals])] = Self.trimmed(line[line.index(after: equals)...])
            }
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }

    func has(_ group: String) -> Bool { groups[group] != nil }

    func text(_ key: String, in group: String) -> String? { groups[group]?[key] }

    func number<Number: FixedWidthInteger>(_ key: String, in group: String) -> Number? {
        text(key, in: group).flatMap { Number($0) }
    }

    /// A key of 16 octets, least significant octet first. BlueZ writes the key as the kernel reports it, and the kernel
    /// keeps it in the order in which it was sent over the air.
    func key(_ key: String, in group: String) -> UInt128? {
        guard var digits = text(key, in: group)?[...] else { return nil }
        if digits.hasPrefix("0x") { digits = digits.dropFirst(2) }
        guard digits.utf8.count == 32, digits.utf8.allSatisfy(\.isHexDigit) else { return nil }
        return UInt128(digits, radix: 16)?.byteSwapped
    }

    /// A random number: decimal, or, as written by older versions, eight octets in hexadecimal, least significant octet
    /// first.
    func random(_ key: String, in group: String) -> UInt64? {
        guard let text = text(key, in: group) else { return nil }
        guard text.hasPrefix("0x") else { return UInt64(text) }
        let digits = text.dropFirst(2)
        guard digits.utf8.count == 16, digits.utf8.allSatisfy(\.isHexDigit) else { return nil }
        return UInt64(digits, radix: 16)?.byteSwapped
    }
}
