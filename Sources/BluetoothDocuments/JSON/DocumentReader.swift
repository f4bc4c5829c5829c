import BluetoothATT
import BluetoothBase

/// A value in a document, with its location. An unexpected value is an error that contains the location.
struct DocumentReader {
    let value: JSONValue
    let path: String

    func failure(_ problem: DocumentError.Problem) -> DocumentError { DocumentError(path, problem) }

    func failure(expected: String) -> DocumentError { failure(.expected(expected, found: found)) }

    /// The value, shortened to fit into a message.
    private var found: String {
        switch value {
        case .object: return "an object"
        case .array: return "a list"
        default:
            let text = value.text()
            return text.count <= 40 ? text : text.prefix(39) + "…"
        }
    }

    // MARK: - Objects and lists

    /// Returns the members of an object. Throws if it has a member that is not in `known`.
    func object(_ known: [String]) throws(DocumentError) -> ObjectReader {
        guard case .object(let members) = value else { throw failure(expected: "an object") }
        // The parser returns members in no defined order, but the first error should always be the same.
        for member in members.sorted(by: { $0.name < $1.name }) where !known.contains(member.name) {
            let place = path.isEmpty ? member.name : "\(path).\(member.name)"
            throw DocumentError(place, .unknownMember(known: known))
        }
        return ObjectReader(members: members, path: path)
    }

    /// Returns the elements of a list.
    func list(maximum: Int = 65_535) throws(DocumentError) -> [DocumentReader] {
        guard case .array(let elements) = value else { throw failure(expected: "a list") }
        guard elements.count <= maximum else { throw failure(.tooMany(maximum: maximum)) }
        return elements.enumerated().map { DocumentReader(value: $1, path: "\(path)[\($0)]") }
    }

    // MARK: - Scalars

    func string(expected: String = "a string") throws(DocumentError) -> String {
        guard case .string(let string) = value else { throw failure(expected: expected) }
        return string
    }

    func flag() throws(DocumentError) -> Bool {
        guard case .bool(let flag) = value else { throw failure(expected: "true or false") }
        return flag
    }

    /// Returns an integer, given as a number or as a hexadecimal string such as "0x0A".
    func integer(_ range: ClosedRange<Int64>, expected: String) throws(DocumentError) -> Int64 {
        switch value {
        case .integer(let integer) where range.contains(integer): return integer
        case .string(let text) where text.hasPrefix("0x"):
            if let integer = Int64(text.dropFirst(2), radix: 16), range.contains(integer) { return integer }
        default: break
        }
        throw failure(expected: expected)
    }

    func handle() throws(DocumentError) -> AttributeHandle {
        let expected = "a handle from \"0x0001\" to \"0xFFFF\""
        return AttributeHandle(UInt16(truncatingIfNeeded: try integer(1...0xFFFF, expected: expected)))
    }

    func uuid() throws(DocumentError) -> BluetoothUUID {
        let expected = "a UUID of 4, 8 or 36 characters such as \"180F\""
        guard let uuid = BluetoothUUID(try string(expected: expected)) else { throw failure(expected: expected) }
        return uuid
    }

    /// Returns octets given in hexadecimal.
    func octets(maximum: Int) throws(DocumentError) -> [UInt8] {
        let expected = "at most \(maximum) octets in hexadecimal such as \"01 FF\""
        guard let octets = [UInt8](hexadecimal: try string(expected: expected)), octets.count <= maximum else {
            throw failure(expected: expected)
        }
        return octets
    }

    /// Returns the UTF-8 octets of a text.
    func text(maximum: Int) throws(DocumentError) -> [UInt8] {
        let expected = "a text of at most \(maximum) octets"
        let octets = [UInt8](try string(expected: expected).utf8)
        guard octets.count <= maximum else { throw failure(expected: expected) }
        return octets
    }

    /// Returns a time given in milliseconds, at most a year.
    func milliseconds() throws(DocumentError) -> Duration {
        let year = 31_536_000_000.0
        switch value {
        case .integer(let integer) where integer >= 0 && Double(integer) <= year: return .milliseconds(integer)
        case .number(let number) where number >= 0 && number <= year:
            return .nanoseconds(Int64((number * 1_000_000).rounded()))
        default: throw failure(expected: "a time in milliseconds, 0 or more")
        }
    }

    /// Returns the value for one of several words.
    func choice<Value>(_ choices: [(String, Value)]) throws(DocumentError) -> Value {
        let expected = "one of " + choices.map { "\"\($0.0)\"" }.joined(separator: ", ")
        let word = try string(expected: expected)
        guard let choice = choices.first(where: { $0.0 == word }) else { throw failure(expected: expected) }
        return choice.1
    }
}

/// The members of an object in a document.
struct ObjectReader {
    let members: [JSONValue.Member]
    let path: String

    /// Returns the location of a member.
    func place(of name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

    /// Returns a member, or nil if it is missing or null.
    subscript(name: String) -> DocumentReader? {
        guard let member = members.first(where: { $0.name == name }), member.value != .null else { return nil }
        return DocumentReader(value: member.value, path: place(of: name))
    }

    func required(_ name: String, expected: String) throws(DocumentError) -> DocumentReader {
        guard let member = self[name] else { throw DocumentError(place(of: name), .missing(expected: expected)) }
        return member
    }

    /// Decodes each element of a list. The result is empty if the member is missing.
    func list<Element>(
        _ name: String, maximum: Int = 65_535, _ read: (DocumentReader) throws(DocumentError) -> Element
    ) throws(DocumentError) -> [Element] {
        var elements: [Element] = []
        for element in try self[name]?.list(maximum: maximum) ?? [] { elements.append(try read(element)) }
        return elements
    }

    /// Returns octets from one of two members, either hexadecimal or text, or nil if both are missing.
    func octets(
        _ hexadecimal: String = "value", _ text: String = "text", maximum: Int
    ) throws(DocumentError) -> (octets: [UInt8], isText: Bool)? {
        if let value = self[hexadecimal] {
            if self[text] != nil { throw DocumentError(place(of: text), .contradicts(other: hexadecimal)) }
            return (try value.octets(maximum: maximum), false)
        }
        return try self[text].map { value throws(DocumentError) in (try value.text(maximum: maximum), true) }
    }
}
