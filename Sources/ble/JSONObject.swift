import BluetoothBase
import BluetoothDocuments

/// Writes one JSON object on one line, with members in the order in which they are added. Nil values, and empty lists
/// of integers, strings and objects, are omitted.
///
/// A busy scan writes thousands of objects per second, so the text is built in place, octet by octet.
struct JSONObject {
    /// The text so far, in UTF-8, without the closing brace.
    private var utf8: [UInt8]
    /// Whether the innermost open object has no members yet.
    private var isEmpty = true

    /// - Parameter capacity: the approximate length of the text, in octets.
    init(capacity: Int = 0) {
        utf8 = []
        utf8.reserveCapacity(capacity)
        utf8.append(UInt8(ascii: "{"))
    }

    var text: String { String(decoding: utf8, as: UTF8.self) + "}" }

    /// The text, followed by a line feed.
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

    /// Adds a member whose value is true or false.
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

    /// Adds a member whose value is already JSON.
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
        // Most numbers have a single digit, and converting a number to a string is expensive.
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
