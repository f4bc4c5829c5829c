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

    /// Adds a member if `flag` is true; a missing member means false.
    mutating func add(_ name: String, _ flag: Bool) {
        if flag { append(name, "true") }
    }

    /// Adds an object with the members that `body` adds, if there is a value.
    mutating func add<Value>(_ name: String, _ value: Value?, _ body: (inout JSONObject, Value) -> Void) {
        guard let value else { return }
        var object = JSONObject()
        body(&object, value)
        append(name, object.text)
    }

    private mutating func append(_ name: String, _ value: String) {
        if !members.isEmpty { members += "," }
        members += "\(Self.quoted(name)):\(value)"
    }

    /// The string in JSON (RFC 8259, 7).
    private static func quoted(_ string: String) -> String {
        var quoted = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\0"..<" ":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
