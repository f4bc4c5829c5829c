import BluetoothDocuments
import BluetoothValues

/// Writes one JSON object on one line, with members in the order in which they are added; nil has no member. Numbers keep the
/// digits that a sensor sent.
package struct JSONObject {
    private var members = ""

    package init() {}

    /// An object with what `body` adds.
    package init(_ body: (inout JSONObject) -> Void) { body(&self) }

    package var text: String { "{\(members)}" }

    package mutating func add(_ name: String, _ string: String?) {
        if let string { append(name, JSONText.quoted(string)) }
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

    /// Adds a member whose value is JSON already.
    package mutating func add(_ name: String, json: String) { append(name, json) }

    package mutating func add(_ name: String, _ value: AdvertisedField.Value) {
        switch value {
        case .number(let number): append(name, number.description)
        case .flag(let flag): add(name, flag)
        case .text(let text): add(name, text)
        }
    }

    private mutating func append(_ name: String, _ value: String) {
        if !members.isEmpty { members += "," }
        members += JSONText.quoted(name) + ":" + value
    }
}
