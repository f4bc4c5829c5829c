/// Writes one JSON object on one line, with members in the order in which they are added. Nil and empty values have no
/// member.
struct JSONObject {
    private var members = ""

    var text: String { "{\(members)}" }

    mutating func add(_ name: String, _ number: (some BinaryInteger)?) {
        if let number { append(name, "\(number)") }
    }

    mutating func add(_ name: String, _ numbers: [some BinaryInteger]) {
        if !numbers.isEmpty { append(name, "[" + numbers.map { "\($0)" }.joined(separator: ",") + "]") }
    }

    mutating func add(_ name: String, _ string: String?) {
        if let string { append(name, Self.quoted(string)) }
    }

    mutating func add(_ name: String, _ number: Double?) {
        // JSON has no infinities (RFC 8259, 6).
        if let number, number.isFinite { append(name, "\(number)") }
    }

    mutating func add(_ name: String, _ strings: [String]) {
        if !strings.isEmpty { append(name, "[" + strings.map(Self.quoted).joined(separator: ",") + "]") }
    }

    /// Adds a list of objects.
    mutating func add(_ name: String, _ objects: [JSONObject]) {
        if !objects.isEmpty { append(name, "[" + objects.map(\.text).joined(separator: ",") + "]") }
    }

    /// Adds a member if `flag` is true; a missing member means false.
    mutating func add(_ name: String, _ flag: Bool) {
        if flag { append(name, "true") }
    }

    /// Adds a member that says yes or no.
    mutating func add(_ name: String, explicit flag: Bool) { append(name, "\(flag)") }

    mutating func add(_ name: String, _ numbers: [Double]) {
        // JSON has no infinities (RFC 8259, 6).
        append(name, "[" + numbers.map { $0.isFinite ? "\($0)" : "null" }.joined(separator: ",") + "]")
    }

    /// Adds an object with the members that `body` adds, if there is a value.
    mutating func add<Value>(_ name: String, _ value: Value?, _ body: (inout JSONObject, Value) -> Void) {
        guard let value else { return }
        var object = JSONObject()
        body(&object, value)
        append(name, object.text)
    }

    /// Adds a member whose value is JSON already.
    mutating func add(_ name: String, json value: String) { append(name, value) }

    private mutating func append(_ name: String, _ value: String) {
        if !members.isEmpty { members += "," }
        members += Self.quoted(name)
        members += ":"
        members += value
    }

    /// The string in JSON (RFC 8259, 7), with what could control a terminal escaped, as in `quoted`.
    private static func quoted(_ string: String) -> String {
        if string.utf8.allSatisfy(isPlain) { return "\"" + string + "\"" }
        var quoted = "\""
        for scalar in string.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            default: quoted += scalar == "\"" || scalar == "\\" ? "\\\(scalar)" : String(scalar)
            }
        }
        return quoted + "\""
    }

    /// Whether an octet of UTF-8 is a character that stands for itself.
    private static func isPlain(_ octet: UInt8) -> Bool {
        (0x20..<0x7F).contains(octet) && octet != UInt8(ascii: "\"") && octet != UInt8(ascii: "\\")
    }
}
