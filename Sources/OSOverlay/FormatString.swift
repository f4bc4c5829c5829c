import Foundation

/// A `printf`-style format string with privacy annotations, such as `%{public}@ took %.1f s`.
struct FormatString {
    private var rest: Substring
    private var arguments: ArraySlice<Any?>

    /// Formats the arguments. An argument that does not match its conversion is written with its description. A missing
    /// argument is written as `<decode: missing data>`, as in Apple's log.
    static func text(_ format: String, _ arguments: [Any?]) -> String {
        guard format.contains("%") else { return format }
        var parser = FormatString(rest: format[...], arguments: arguments[...])
        return parser.text()
    }

    private mutating func text() -> String {
        var text = ""
        while let percent = rest.firstIndex(of: "%") {
            text += rest[..<percent]
            rest = rest[rest.index(after: percent)...]
            text += conversion()
        }
        return text + rest
    }

    /// Parses the conversion that follows a percent sign.
    private mutating func conversion() -> String {
        if rest.first == "%" {
            rest.removeFirst()
            return "%"
        }
        // Without a closing brace, this is text rather than an annotation.
        if rest.first == "{", !rest.contains("}") { return "%" }
        let options = annotations()
        var specification = take { "-+ #0.*0123456789".contains($0) }
        if specification.contains("*") {
            // A separate argument gives the width or the precision.
            let width = arguments.popFirst().flatMap { $0 as? any BinaryInteger }.map { "\($0)" } ?? ""
            specification = specification.replacingOccurrences(of: "*", with: width)
        }
        _ = take { "hlqLztj".contains($0) }
        guard let kind = rest.popFirst() else { return "%" }
        if kind == "m" {
            return privacy(options).text(of: String(cString: strerror(errno)), isScalar: true)
        }
        guard let argument = arguments.popFirst() else { return "<decode: missing data>" }
        let (value, isScalar) = Self.describe(argument, kind, specification)
        return privacy(options).text(of: value, isScalar: isScalar)
    }

    /// Parses the annotations in braces, such as `{public, name=value}`.
    private mutating func annotations() -> [String] {
        guard rest.first == "{", let end = rest.firstIndex(of: "}") else { return [] }
        defer { rest = rest[rest.index(after: end)...] }
        return rest[rest.index(after: rest.startIndex)..<end].split(separator: ",")
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }

    private mutating func take(while isIncluded: (Character) -> Bool) -> String {
        let taken = rest.prefix(while: isIncluded)
        rest = rest[taken.endIndex...]
        return String(taken)
    }

    private func privacy(_ options: [String]) -> OSLogPrivacy {
        let mask: OSLogPrivacy.Mask = options.contains("mask.hash") ? .hash : .none
        if options.contains("public") { return .public }
        if options.contains("sensitive") { return .sensitive(mask: mask) }
        if options.contains("private") { return .private(mask: mask) }
        return .auto(mask: mask)
    }

    private static func describe(_ argument: Any?, _ kind: Character, _ specification: String) -> (String, Bool) {
        guard let argument else { return ("(null)", true) }
        switch kind {
        case "d", "i", "u", "D", "U":
            guard let number = argument as? any FixedWidthInteger else { break }
            return (padded("\(number)", specification), true)
        case "x", "X", "o":
            guard let number = argument as? any FixedWidthInteger else { break }
            let digits = hex(number, radix: kind == "o" ? 8 : 16, uppercase: kind == "X")
            return (padded((specification.contains("#") ? "0x" : "") + digits, specification), true)
        case "f", "F", "e", "E", "g", "G", "a", "A":
            guard let number = argument as? any BinaryFloatingPoint else { break }
            return (String(format: "%\(specification)\(kind)", Double(number)), true)
        case "c":
            guard let number = argument as? any FixedWidthInteger,
                let scalar = Unicode.Scalar(UInt32(truncatingIfNeeded: number))
            else { break }
            return (String(scalar), true)
        case "p":
            if let pointer = argument as? UnsafeRawPointer {
                return ("0x" + String(UInt(bitPattern: pointer), radix: 16), true)
            }
        case "s":
            if let text = argument as? UnsafePointer<CChar> { return (String(cString: text), false) }
            if let text = argument as? UnsafeMutablePointer<CChar> { return (String(cString: text), false) }
        default: break
        }
        return (String(describing: argument), argument is any Numeric || argument is Bool)
    }

    private static func hex<Number: FixedWidthInteger>(_ number: Number, radix: Int, uppercase: Bool) -> String {
        String(Number.Magnitude(truncatingIfNeeded: number), radix: radix, uppercase: uppercase)
    }

    /// Applies the width, the padding and the alignment.
    private static func padded(_ digits: String, _ specification: String) -> String {
        let parts = specification.split(separator: ".", omittingEmptySubsequences: false)
        let flags = parts.first.map { $0.prefix { "-+ #0".contains($0) } } ?? ""
        // The format comes from the program itself, but a width of millions would be useless.
        let width = min(parts.first.flatMap { Int($0.dropFirst(flags.count)) } ?? 0, 1024)
        let precision = min(parts.count > 1 ? Int(parts[1]) ?? 0 : 0, 1024)
        let isNegative = digits.hasPrefix("-")
        var number = isNegative ? String(digits.dropFirst()) : digits
        let sign = isNegative ? "-" : flags.contains("+") ? "+" : flags.contains(" ") ? " " : ""
        let zeros = flags.contains("0") && !flags.contains("-") ? width - sign.count : precision
        number = sign + String(repeating: "0", count: max(0, max(zeros, precision) - number.count)) + number
        let spaces = String(repeating: " ", count: max(0, width - number.count))
        return flags.contains("-") ? number + spaces : spaces + number
    }
}
