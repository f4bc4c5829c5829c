import BluetoothDocuments

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
        if let string { append(name, JSONText.quoted(string)) }
    }

    mutating func add(_ name: String, _ number: Double?) {
        // JSON has no infinities (RFC 8259, 6).
        if let number, number.isFinite { append(name, "\(number)") }
    }

    mutating func add(_ name: String, _ strings: [String]) {
        if !strings.isEmpty { append(name, "[" + strings.map(JSONText.quoted).joined(separator: ",") + "]") }
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
        members += JSONText.quoted(name)
        members += ":"
        members += value
    }
}
