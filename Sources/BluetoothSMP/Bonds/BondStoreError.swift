import BluetoothBase

/// Why bonds could not be read or stored.
///
/// `code` identifies the failure, and the other properties give the details that belong to the code. The description
/// states what to do. A later version may add codes, so a switch over them needs a `default`.
public struct BondStoreError: Error, Hashable, Sendable {
    package let kind: Kind

    package init(kind: Kind) { self.kind = kind }

    /// The failure with its details.
    package indirect enum Kind: Hashable, Sendable {
        case noDirectory
        case system(action: String, path: String, errorNumber: Int32, text: String)
        case damaged(path: String, reason: String, setAside: String?)
        case laterVersion(path: String)
        case exposed(path: String, isDirectory: Bool)
        case busy(path: String)
        case full(Limit, maximum: Int)
        case invalid(Rule)
        case identityInUse(DeviceAddress)
        case noThread
        case overloaded(Int)
        case abandoned(Int)
        case noIdentity
        case failed(Cause)
    }

    /// The error of a store that this library does not know. Two of them are equal if they have the same type and text.
    package struct Cause: Hashable, Sendable {
        package let error: any Error

        package init(_ error: any Error) { self.error = error }

        private var identity: String { "\(type(of: error)): \(error)" }

        package static func == (one: Self, other: Self) -> Bool { one.identity == other.identity }

        package func hash(into hasher: inout Hasher) { hasher.combine(identity) }
    }

    /// What a store has a limited number of.
    public struct Limit: Hashable, Sendable {
        private enum Name: String {
            case bonds
            case identities
            case controllers = "controllers per identity"
            case subscriptions = "subscriptions per bond"
            case fileSize = "octets per identity file"
        }

        private let name: Name

        private init(_ name: Name) { self.name = name }

        /// Bonds of one identity.
        public static let bonds = Limit(.bonds)
        /// Identities of this device.
        public static let identities = Limit(.identities)
        /// Controllers that use one identity.
        public static let controllers = Limit(.controllers)
        /// Subscriptions in one bond.
        public static let subscriptions = Limit(.subscriptions)
        /// Octets in the file of one identity.
        public static let fileSize = Limit(.fileSize)
    }

    /// A rule that every bond and identity obeys.
    public struct Rule: Hashable, Sendable {
        private enum Name: String {
            case keySize = "a key must have 7 to 16 octets"
            case identityAddress = "the address of an identity must be public or static"
        }

        private let name: Name

        private init(_ name: Name) { self.name = name }

        /// A key has 7 to 16 octets (Core 5.4, Vol 3, Part H, 2.3.4).
        public static let keySize = Rule(.keySize)
        /// The address of an identity is public or static (Core 5.4, Vol 3, Part H, 2.4.3.1).
        public static let identityAddress = Rule(.identityAddress)
    }
}

extension BondStoreError.Limit: CustomStringConvertible {
    /// A plural noun, such as `subscriptions per bond`.
    public var description: String { name.rawValue }
}

extension BondStoreError.Rule: CustomStringConvertible {
    /// The rule as a clause, such as `a key must have 7 to 16 octets`.
    public var description: String { name.rawValue }
}

// MARK: - Details

extension BondStoreError {
    /// The file or directory that is the problem, with `.system`, `.damaged`, `.laterVersion`, `.exposed` and `.busy`.
    public var path: String? {
        switch kind {
        case .system(_, let path, _, _), .damaged(let path, _, _), .laterVersion(let path), .exposed(let path, _),
            .busy(let path):
            path
        default: nil
        }
    }

    /// The system's error number, such as `ENOSPC`, with `.system`.
    public var errorNumber: Int32? { if case .system(_, _, let number, _) = kind { number } else { nil } }

    /// The new path of a damaged file, with `.damaged`; nil if it could not be renamed.
    public var setAsidePath: String? { if case .damaged(_, _, let path) = kind { path } else { nil } }

    /// What the store has too much of, with `.full`.
    public var limit: Limit? { if case .full(let limit, _) = kind { limit } else { nil } }

    /// The maximum, with `.full` and `.overloaded`.
    public var maximum: Int? {
        switch kind {
        case .full(_, let maximum), .overloaded(let maximum): maximum
        default: nil
        }
    }

    /// The rule that the bond or identity violates, with `.invalid`.
    public var rule: Rule? { if case .invalid(let rule) = kind { rule } else { nil } }

    /// The identity address that the store has another key for, with `.identityInUse`.
    public var address: DeviceAddress? { if case .identityInUse(let address) = kind { address } else { nil } }

    /// The number of changes that were not written, with `.abandoned`.
    public var abandonedCount: Int? { if case .abandoned(let count) = kind { count } else { nil } }

    /// The error of the store's own medium, such as a database, with `.failed`.
    public var underlyingError: (any Error)? { if case .failed(let cause) = kind { cause.error } else { nil } }
}

// MARK: - Text

extension BondStoreError: CustomStringConvertible {
    /// One line that states what failed and what can be done about it. It may contain paths and addresses, but no key.
    public var description: String {
        switch kind {
        case .noDirectory:
            "no directory for bonds is set; set XDG_STATE_HOME or HOME to an absolute path, or choose a directory"
        case .system(let action, let path, _, let text):
            "cannot \(action) \(path): \(text); fix that, or choose another directory for bonds"
        case .damaged(let path, let reason, .some(let place)):
            "\(path) cannot be used: \(reason); it was moved to \(place); restore it from a backup, or pair again"
        case .damaged(let path, let reason, .none):
            "\(path) cannot be used: \(reason); it cannot be set aside either; move it away"
        case .laterVersion(let path):
            "\(path) was written by a later version of this program; use that version, or choose another directory"
        case .exposed(let path, true):
            "other users can write to \(path), which holds keys; restrict it to yourself: chmod 700 \(path)"
        case .exposed(let path, false):
            "other users can read the keys in \(path); if none has, restrict it to yourself: chmod 600 \(path)"
        case .busy(let path): "another program has locked \(path); try again when it is done"
        case .full(let limit, let maximum):
            "the maximum of \(maximum) \(limit) is reached; remove some that are not needed"
        case .invalid(let rule): "this cannot be stored: \(rule)"
        case .noThread: "no thread could be created to write bonds; stop other programs, and pair again"
        case .overloaded(let count):
            "\(count) new bonds are waiting for the disk, so the next is not stored; pair again when the disk responds"
        case .abandoned(let count):
            """
            the adapter closed before \(count) \(count == 1 ? "change" : "changes") to bonds could be written; \
            check the disk, and pair again if a bond is missing
            """
        case .noIdentity: "a bond was not written, because the adapter has no identity yet; wait until it is ready"
        case .identityInUse(let address):
            "the store has bonds of \(address) with another identity key; remove them, or choose another directory"
        case .failed(let cause): "the bond store failed: \(cause.error)"
        }
    }
}
