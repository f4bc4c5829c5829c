import BluetoothBase
import Yams

/// Reads the members of one mapping in a file. Members that are never requested are errors: a misspelled member must
/// not silently become a default.
struct ConfigurationReader {
    private let members: [(key: String, value: Node, line: Int?)]
    private let path: String
    private var known: [String] = []

    init(_ node: Node, path: String) throws(ConfigurationError) {
        guard case .mapping(let mapping) = node else {
            throw ConfigurationError(path: path, line: node.mark?.line, reason: "expected a mapping")
        }
        self.path = path
        var members: [(key: String, value: Node, line: Int?)] = []
        for (key, value) in mapping {
            guard case .scalar(let name) = key else {
                throw ConfigurationError(
                    path: path, line: key.mark?.line, reason: "expected a string as the name of a member")
            }
            members.append((name.string, value, key.mark?.line))
        }
        self.members = members
    }

    private func path(of name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

    /// The value of a member; nil if the member is missing.
    private mutating func node(_ name: String) -> Node? {
        known.append(name)
        guard let value = members.last(where: { $0.key == name })?.value else { return nil }
        // A name without a value.
        if case .scalar(let scalar) = value, scalar.style == .plain, ["", "~", "null"].contains(scalar.string) {
            return nil
        }
        return value
    }

    /// An error about a member.
    func error(_ name: String, _ reason: String) -> ConfigurationError {
        ConfigurationError(
            path: path(of: name), line: members.last { $0.key == name }?.value.mark?.line, reason: reason)
    }

    mutating func text(_ name: String) throws(ConfigurationError) -> String? {
        guard let node = node(name) else { return nil }
        guard case .scalar(let scalar) = node else { throw error(name, "expected a string") }
        // A C library would treat a zero as the end of the text.
        guard !scalar.string.utf8.contains(0) else { throw error(name, "expected a string without null characters") }
        return scalar.string
    }

    mutating func flag(_ name: String) throws(ConfigurationError) -> Bool? {
        guard let text = try text(name) else { return nil }
        switch text.lowercased() {
        case "true", "yes", "on": return true
        case "false", "no", "off": return false
        default: throw error(name, "expected true or false")
        }
    }

    mutating func integer(_ name: String, in range: ClosedRange<Int>) throws(ConfigurationError) -> Int? {
        guard let text = try text(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw error(name, "expected a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    mutating func number(_ name: String, in range: ClosedRange<Double>) throws(ConfigurationError) -> Double? {
        guard let text = try text(name) else { return nil }
        guard let number = Double(text), range.contains(number) else {
            throw error(name, "expected a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// A number of seconds.
    mutating func duration(_ name: String, in range: ClosedRange<Double>) throws(ConfigurationError) -> Duration? {
        guard let text = try text(name) else { return nil }
        guard let seconds = Double(text), range.contains(seconds) else {
            throw error(name, "expected a number of seconds from \(range.lowerBound) to \(range.upperBound)")
        }
        return .milliseconds(Int64(seconds * 1000))
    }

    /// A list whose elements are converted by `make`. A single element may be written without a list.
    mutating func list<Value>(
        _ name: String, _ expected: String, limit: Int = 10_000, _ make: (String) -> Value?
    ) throws(ConfigurationError) -> [Value]? {
        guard let node = node(name) else { return nil }
        var values: [Value] = []
        let elements: [Node] = if case .sequence(let sequence) = node { Array(sequence) } else { [node] }
        guard elements.count <= limit else { throw error(name, "expected at most \(limit) elements") }
        for (index, element) in elements.enumerated() {
            guard case .scalar(let scalar) = element, let value = make(scalar.string) else {
                throw ConfigurationError(
                    path: "\(path(of: name))[\(index)]", line: element.mark?.line, reason: "expected \(expected)")
            }
            values.append(value)
        }
        return values
    }

    /// The names and texts in a mapping.
    mutating func texts(_ name: String) throws(ConfigurationError) -> [(name: String, text: String, line: Int?)]? {
        guard let node = node(name) else { return nil }
        guard case .mapping(let mapping) = node else { throw error(name, "expected a mapping") }
        var texts: [(name: String, text: String, line: Int?)] = []
        for (key, value) in mapping {
            guard case .scalar(let key) = key, case .scalar(let text) = value else {
                throw ConfigurationError(
                    path: path(of: name), line: key.mark?.line, reason: "expected a string for each name")
            }
            texts.append((key.string, text.string, value.mark?.line))
        }
        return texts
    }

    /// Reads the members of a mapping.
    mutating func section(
        _ name: String, _ body: (inout ConfigurationReader) throws(ConfigurationError) -> Void
    ) throws(ConfigurationError) {
        guard let node = node(name) else { return }
        var reader = try ConfigurationReader(node, path: path(of: name))
        try body(&reader)
        try reader.finish()
    }

    /// - Throws: an error if a member was never requested or appears twice.
    func finish() throws(ConfigurationError) {
        var seen: Set<String> = []
        for member in members {
            guard known.contains(member.key) else {
                throw ConfigurationError(
                    path: path(of: member.key), line: member.line,
                    reason: "unknown member; expected one of \(known.sorted().joined(separator: ", "))")
            }
            guard seen.insert(member.key).inserted else {
                throw ConfigurationError(path: path(of: member.key), line: member.line, reason: "appears twice")
            }
        }
    }
}
