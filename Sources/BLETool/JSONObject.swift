import BluetoothBase
import BluetoothDocuments

/// Writes one JSON object on one line, with members in the order in which they are added. Nil and empty values have no
/// member.
///
/// A busy scan writes thousands of them a second, so the text is made in place, octet by octet.
struct JSONObject {
    /// The text so far, in UTF-8, without the closing brace.
    private var utf8: [UInt8]
    /// Whether the innermost object that is being written has no member yet.
    private var isEmpty = true

    /// - Parameter capacity: how many octets the text will about have.
    init(capacity: Int = 0) {
        utf8 = []
        utf8.reserveCapacity(capacity)
        utf8.append(UInt8(ascii: "{"))
    }

    var text: String { String(decoding: utf8, as: UTF8.self) + "}" }

    /// The text and a line break.
    consuming func line() -> [UInt8] {
        utf8.append(UInt8(ascii: "}"))
        utf8.append(UInt8(ascii: "\n"))
        return utf8
    }

    // MARK: - Members

    mutating func add(_ name: String, _ number: (some BinaryInteger)?) {
        guard let number else { return }
        begin(name)
        append(number)
    }

    mutating func add(_ name: String, _ numbers: [some BinaryInteger]) {
        if !numbers.isEmpty { addList(name, numbers) { $0.append($1) } }
    }

    mutating func add(_ name: String, _ string: String?) {
        guard let string else { return }
        begin(name)
        JSONText.append(string, to: &utf8)
    }

    mutating func add(_ name: String, _ number: Double?) {
        // JSON has no infinities (RFC 8259, 6).
        if let number, number.isFinite { add(name, json: "\(number)") }
    }

    mutating func add(_ name: String, _ strings: [String]) {
        if !strings.isEmpty { addList(name, strings) { JSONText.append($1, to: &$0.utf8) } }
    }

    /// Adds a member if `flag` is true; a missing member means false.
    mutating func add(_ name: String, _ flag: Bool) {
        if flag { add(name, json: "true") }
    }

    /// Adds a member that says yes or no.
    mutating func add(_ name: String, explicit flag: Bool) { add(name, json: flag ? "true" : "false") }

    mutating func add(_ name: String, _ numbers: [Double]) {
        // JSON has no infinities (RFC 8259, 6).
        addList(name, numbers) { $0.utf8.append(contentsOf: ($1.isFinite ? "\($1)" : "null").utf8) }
    }

    /// Adds an object with the members that `body` adds, if there is a value.
    mutating func add<Value>(_ name: String, _ value: Value?, _ body: (inout JSONObject, Value) -> Void) {
        guard let value else { return }
        begin(name)
        nest(value, body)
    }

    /// Adds a list of objects, each with the members that `body` adds for a value, if there are values.
    mutating func add<Value>(_ name: String, each values: [Value], _ body: (inout JSONObject, Value) -> Void) {
        if !values.isEmpty { addList(name, values) { $0.nest($1, body) } }
    }

    /// Adds octets in hexadecimal.
    mutating func add(_ name: String, hexadecimal octets: [UInt8]) {
        begin(name)
        utf8.append(UInt8(ascii: "\""))
        for octet in octets { utf8.append(hexadecimal: octet) }
        utf8.append(UInt8(ascii: "\""))
    }

    /// Adds a member whose value is JSON already.
    mutating func add(_ name: String, json value: String) {
        begin(name)
        utf8.append(contentsOf: value.utf8)
    }

    // MARK: - Parts

    private mutating func begin(_ name: String) {
        if !isEmpty { utf8.append(UInt8(ascii: ",")) }
        isEmpty = false
        JSONText.append(name, to: &utf8)
        utf8.append(UInt8(ascii: ":"))
    }

    private mutating func append(_ number: some BinaryInteger) {
        // One digit is most often enough, and an interpolation dear.
        if let digit = UInt8(exactly: number), digit < 10 {
            utf8.append(UInt8(ascii: "0") + digit)
        } else {
            utf8.append(contentsOf: String(number).utf8)
        }
    }

    private mutating func addList<Value>(_ name: String, _ values: [Value], _ body: (inout JSONObject, Value) -> Void) {
        begin(name)
        utf8.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { utf8.append(UInt8(ascii: ",")) }
            body(&self, value)
        }
        utf8.append(UInt8(ascii: "]"))
    }

    private mutating func nest<Value>(_ value: Value, _ body: (inout JSONObject, Value) -> Void) {
        utf8.append(UInt8(ascii: "{"))
        isEmpty = true
        body(&self, value)
        utf8.append(UInt8(ascii: "}"))
        isEmpty = false
    }
}
