import BluetoothDocuments
import BluetoothValues

/// Writes one JSON object on one line, with members in the order in which they are added. A nil value adds no member.
/// Numbers keep the digits that a sensor sent.
package struct JSONObject {
    private var members = ""

    package init() {}

    /// Creates an object with the members that `body` adds.
    package init(_ body: (inout JSONObject) -> Void) { body(&self) }

    package var text: String { "{\(members)}" }

    package mutating func add(_ name: String, _ string: String?) {
        guard let string else { return }
        appendName(name)
        appendQuoted(string)
    }

    package mutating func add(_ name: String, _ number: (some BinaryInteger)?) {
        if let number { append(name, "\(number)") }
    }

    package mutating func add(_ name: String, _ flag: Bool) { append(name, flag ? "true" : "false") }

    package mutating func add(_ name: String, _ strings: [String]) {
        append(name, "[" + strings.map(JSONText.quoted).joined(separator: ",") + "]")
    }

    package mutating func add(_ name: String, _ object: JSONObject) { append(name, object.text) }

    package mutating func add(_ name: String, _ objects: [JSONObject]) {
        append(name, "[" + objects.map(\.text).joined(separator: ",") + "]")
    }

    /// Adds a member whose value is already JSON.
    package mutating func add(_ name: String, json: String) { append(name, json) }

    package mutating func add(_ name: String, _ value: AdvertisedField.Value) {
        switch value {
        case .number(let number): append(name, number.description)
        case .flag(let flag): add(name, flag)
        case .text(let text): add(name, text)
        }
    }

    private mutating func append(_ name: String, _ value: String) {
        appendName(name)
        members += value
    }

    private mutating func appendName(_ name: String) {
        if !members.isEmpty { members += "," }
        appendQuoted(name)
        members += ":"
    }

    /// Every value of every packet passes through here, and nearly all text needs no escaping.
    private mutating func appendQuoted(_ string: String) {
        guard string.utf8.allSatisfy(Self.isPlain) else { return members += JSONText.quoted(string) }
        members += "\""
        members += string
        members += "\""
    }

    private static func isPlain(_ octet: UInt8) -> Bool {
        (0x20..<0x7F).contains(octet) && octet != UInt8(ascii: "\"") && octet != UInt8(ascii: "\\")
    }
}
