import BluetoothGATT

/// What is wrong with a document, and where.
public struct DocumentError: Error, Equatable, Sendable {
    public enum Problem: Equatable, Sendable {
        /// The text is not JSON; what its parser says.
        case notJSON(String)
        /// Something else is needed here, which `expected` describes, than was found, which is in JSON.
        case expected(String, found: String)
        /// An object has no such member. `known` are those it may have.
        case unknownMember(known: [String])
        /// A member has to be there.
        case missing(expected: String)
        /// A member that cannot be beside `other`.
        case contradicts(other: String)
        /// There are more elements than `maximum`.
        case tooMany(maximum: Int)
        /// The database cannot be laid out like that.
        case database(GATTDatabaseError)
        /// The advertising data is `excess` octets too long.
        case advertisementTooLong(excess: Int)
    }

    /// The place in the document, such as `services[2].characteristics[0].value`; empty for the document itself.
    public var path: String
    public var problem: Problem

    public init(_ path: String, _ problem: Problem) {
        self.path = path
        self.problem = problem
    }
}

extension DocumentError: CustomStringConvertible {
    /// One line, in which nothing of the document is left that a terminal would obey.
    public var description: String {
        let place = path.isEmpty ? "" : JSONText.quoted(path).dropFirst().dropLast() + ": "
        return place
            + {
                switch problem {
                case .notJSON(let reason): "this is not JSON: \(JSONText.quoted(reason).dropFirst().dropLast())"
                case .expected(let expected, let found): "expected \(expected), found \(found)"
                case .unknownMember(let known):
                    "there is no such member; expected one of \(known.joined(separator: ", "))"
                case .missing(let expected): "this is missing; expected \(expected)"
                case .contradicts(let other): "only one of this and \"\(other)\" can be there"
                case .tooMany(let maximum): "expected at most \(maximum) of these"
                case .database(let error): "\(error)"
                case .advertisementTooLong(let excess): "too long by \(excess) octets"
                }
            }()
    }
}
