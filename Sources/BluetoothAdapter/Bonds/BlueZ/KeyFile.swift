import BluetoothBase

/// A file of groups of keys and values, as GLib writes it: `[Group]`, then `Key=Value`.
struct KeyFile {
    private var groups: [String: [String: String]] = [:]

    /// Lines that are neither are skipped, as comments are.
    init(_ text: String) {
        var group = ""
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.drop { $0 == " " || $0 == "\t" }
            if line.hasPrefix("[") {
                group = String(line.dropFirst().prefix { $0 != "]" })
                groups[group] = groups[group] ?? [:]
            } else if !line.hasPrefix("#"), let equals = line.firstIndex(of: "=") {
                // The last one counts, as with GLib.
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

    /// A key of sixteen octets, the least significant first: BlueZ writes what the kernel gives it, and the kernel has it
    /// as it was on the air.
    func key(_ key: String, in group: String) -> UInt128? {
        guard var digits = text(key, in: group)?[...] else { return nil }
        if digits.hasPrefix("0x") { digits = digits.dropFirst(2) }
        guard digits.utf8.count == 32, digits.utf8.allSatisfy(\.isHexDigit) else { return nil }
        return UInt128(digits, radix: 16)?.byteSwapped
    }

    /// A random number: decimal, or, as older versions have written it, eight octets, the least significant first.
    func random(_ key: String, in group: String) -> UInt64? {
        guard let text = text(key, in: group) else { return nil }
        guard text.hasPrefix("0x") else { return UInt64(text) }
        let digits = text.dropFirst(2)
        guard digits.utf8.count == 16, digits.utf8.allSatisfy(\.isHexDigit) else { return nil }
        return UInt64(digits, radix: 16)?.byteSwapped
    }
}
