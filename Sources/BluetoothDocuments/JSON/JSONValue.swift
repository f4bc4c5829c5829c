import Foundation

/// A JSON value (RFC 8259), either parsed or to be written.
enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    /// The members, in the order in which they are written. Parsed members have no defined order.
    case object([Member])

    struct Member: Equatable, Sendable {
        var name: String
        var value: JSONValue
    }

    /// Parses a text.
    init(parsing text: [UInt8]) throws(DocumentError) {
        do {
            self = try JSONDecoder().decode(JSONValue.self, from: Data(text))
        } catch {
            throw DocumentError("", .notJSON(Self.reason(of: text)))
        }
    }

    /// Returns the reason and the location of a parse error. `JSONDecoder` does not provide them, but
    /// `JSONSerialization` does.
    private static func reason(of text: [UInt8]) -> String {
        do {
            _ = try JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
            return "it cannot be decoded"
        } catch {
            let sentence = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String ?? "it cannot be parsed"
            let words = " around character "
            guard let place = sentence.range(of: words),
                let offset = Int(sentence[place.upperBound...].prefix { $0.isNumber }), offset <= text.count
            else { return sentence }
            let before = text.prefix(offset)
            let line = before.count { $0 == UInt8(ascii: "\n") } + 1
            let column = before.reversed().prefix { $0 != UInt8(ascii: "\n") }.count + 1
            return "\(sentence[..<place.lowerBound]) near line \(line), column \(column)"
        }
    }
}

extension JSONValue: Decodable {
    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: Key.self) {
            self = .object(
                try container.allKeys.map {
                    Member(name: $0.stringValue, value: try container.decode(JSONValue.self, forKey: $0))
                })
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
            self = .array(elements)
        } else {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let string = try? container.decode(String.self) {
                self = .string(string)
            } else if let flag = try? container.decode(Bool.self) {
                self = .bool(flag)
            } else if let integer = try? container.decode(Int64.self) {
                self = .integer(integer)
            } else {
                self = .number(try container.decode(Double.self))
            }
        }
    }
}

// MARK: - Writing

extension JSONValue {
    /// Returns the text, indented by two spaces per level. Lists and objects without nested structure stay on one line.
    func text(indentation: Int = 0) -> String {
        let inner = String(repeating: " ", count: indentation + 2), outer = String(repeating: " ", count: indentation)
        switch self {
        case .null: return "null"
        case .bool(let flag): return "\(flag)"
        case .integer(let integer): return "\(integer)"
        case .number(let number): return "\(number)"
        case .string(let string): return JSONText.quoted(string)
        case .array(let elements):
            if elements.allSatisfy(\.isScalar) { return "[" + elements.map { $0.text() }.joined(separator: ", ") + "]" }
            return "[\n" + elements.map { inner + $0.text(indentation: indentation + 2) }.joined(separator: ",\n")
                + "\n\(outer)]"
        case .object(let members):
            let lines = members.map { "\(JSONText.quoted($0.name)): \($0.value.text(indentation: indentation + 2))" }
            if members.allSatisfy(\.value.isScalar), lines.reduce(0, { $0 + $1.count }) < 90 {
                return "{" + lines.joined(separator: ", ") + "}"
            }
            return "{\n" + lines.map { inner + $0 }.joined(separator: ",\n") + "\n\(outer)}"
        }
    }

    private var isScalar: Bool {
        switch self {
        case .array(let elements): elements.isEmpty
        case .object(let members): members.isEmpty
        case .null, .bool, .integer, .number, .string: true
        }
    }
}

/// A JSON object that is being written. Nil values add no member.
struct JSONMembers {
    private(set) var members: [JSONValue.Member] = []

    var value: JSONValue { .object(members) }

    mutating func add(_ name: String, _ value: JSONValue?) {
        if let value { members.append(.init(name: name, value: value)) }
    }

    mutating func add(_ name: String, _ string: String?) { add(name, string.map { JSONValue.string($0) }) }

    /// Adds a list, unless it is empty.
    mutating func add(_ name: String, _ list: [JSONValue]) {
        if !list.isEmpty { add(name, .array(list)) }
    }
}
