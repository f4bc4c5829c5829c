import BluetoothGATT

/// An error in a document, with its location.
public struct DocumentError: Error, Equatable, Sendable {
    /// The kind of mistake.
    public enum Problem: Equatable, Sendable {
        /// The text is not JSON. The associated value is the parser's message.
        case notJSON(String)
        /// The value is not the expected one. The first associated value describes the expected value; `found` is the
        /// actual one in JSON.
        case expected(String, found: String)
        /// An object has an unknown member. `known` lists the members it may have.
        case unknownMember(known: [String])
        /// A required member is missing.
        case missing(expected: String)
        /// A member can't be combined with `other`.
        case contradicts(other: String)
        /// A list has more than `maximum` elements.
        case tooMany(maximum: Int)
        /// The database can't be laid out as specified.
        case database(GATTDatabaseError)
        /// The advertising data is `excess` octets too long.
        case advertisementTooLong(excess: Int)
    }

    /// The location in the document, for example `services[2].characteristics[0].value`; empty for the document itself.
    public var path: String
    /// The mistake, and the value that was expected.
    public var problem: Problem

    /// Creates an error for the place at `path`.
    public init(_ path: String, _ problem: Problem) {
        self.path = path
        self.problem = problem
    }
}

extension DocumentError: CustomStringConvertible {
    /// The location and the problem, in one line. Text from the document is escaped, so that it contains no terminal
    /// control sequences.
    public var description: String {
        let place = path.isEmpty ? "" : JSONText.quoted(path).dropFirst().dropLast() + ": "
        return place
            + {
                switch problem {
                case .notJSON(let reason): "this is not JSON: \(JSONText.quoted(reason).dropFirst().dropLast())"
                case .expected(let expected, let found): "expected \(expected), found \(found)"
                case .unknownMember(let known):
                    "unknown member; expected one of \(known.joined(separator: ", "))"
                case .missing(let expected): "missing; expected \(expected)"
                case .contradicts(let other): "cannot be combined with \"\(other)\""
                case .tooMany(let maximum): "expected at most \(maximum) elements"
                case .database(let error): "\(error)"
                case .advertisementTooLong(let excess): "too long by \(excess) octets"
                }
            }()
    }
}
