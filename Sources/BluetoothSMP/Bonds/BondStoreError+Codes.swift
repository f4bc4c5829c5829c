import BluetoothBase

extension BondStoreError {
    /// Identifies a failure of a bond store.
    public struct Code: Hashable, Sendable {
        private enum Name: String {
            case noDirectory
            case system
            case damaged
            case laterVersion
            case exposed
            case busy
            case full
            case invalid
            case identityInUse
            case noThread
            case overloaded
            case abandoned
            case noIdentity
            case failed
        }

        private let name: Name

        private init(_ name: Name) { self.name = name }

        /// No directory for bonds is given, and the environment does not name one.
        public static let noDirectory = Code(.noDirectory)
        /// A system call failed: see `path` and `errorNumber`.
        public static let system = Code(.system)
        /// The file at `path` is damaged, and was renamed to `setAsidePath`, which is nil if that failed as well. The
        /// call had no other effect. Repeat it, and it finds the store without the file.
        public static let damaged = Code(.damaged)
        /// The file at `path` was written by a later version of this package. It was not changed.
        public static let laterVersion = Code(.laterVersion)
        /// Other users can read the file at `path`, or write to that directory.
        public static let exposed = Code(.exposed)
        /// Another program held the store for too long.
        public static let busy = Code(.busy)
        /// The store has reached a maximum: see `limit` and `maximum`.
        public static let full = Code(.full)
        /// The bond or identity cannot be the result of pairing: see `rule`.
        public static let invalid = Code(.invalid)
        /// The store has bonds of the identity `address` with another IRK.
        public static let identityInUse = Code(.identityInUse)
        /// The process could not create a thread for writing.
        public static let noThread = Code(.noThread)
        /// The `maximum` number of new bonds is waiting for the disk. The next bond is not stored.
        public static let overloaded = Code(.overloaded)
        /// The adapter closed before `abandonedCount` bond changes were written.
        public static let abandoned = Code(.abandoned)
        /// A bond requires a local identity, but the adapter has none because its controller was never ready.
        public static let noIdentity = Code(.noIdentity)
        /// A store of the program failed: see `underlyingError`.
        public static let failed = Code(.failed)
    }

    /// Identifies the failure.
    public var code: Code {
        switch kind {
        case .noDirectory: .noDirectory
        case .system: .system
        case .damaged: .damaged
        case .laterVersion: .laterVersion
        case .exposed: .exposed
        case .busy: .busy
        case .full: .full
        case .invalid: .invalid
        case .identityInUse: .identityInUse
        case .noThread: .noThread
        case .overloaded: .overloaded
        case .abandoned: .abandoned
        case .noIdentity: .noIdentity
        case .failed: .failed
        }
    }
}

extension BondStoreError.Code: CustomStringConvertible {
    /// The name of the code, such as `identityInUse`.
    public var description: String { name.rawValue }
}

/// Errors to throw from a store, and to compare with a caught error.
extension BondStoreError {
    /// See `Code.noDirectory`.
    public static let noDirectory = Self(kind: .noDirectory)
    /// See `Code.damaged`. The reason is a clause for the description, such as `it is empty`.
    public static func damaged(path: String, reason: String, setAside: String?) -> Self {
        Self(kind: .damaged(path: path, reason: reason, setAside: setAside))
    }
    /// See `Code.laterVersion`.
    public static func laterVersion(path: String) -> Self { Self(kind: .laterVersion(path: path)) }
    /// See `Code.exposed`.
    public static func exposed(path: String, isDirectory: Bool) -> Self {
        Self(kind: .exposed(path: path, isDirectory: isDirectory))
    }
    /// See `Code.busy`.
    public static func busy(path: String) -> Self { Self(kind: .busy(path: path)) }
    /// See `Code.full`.
    public static func full(_ limit: Limit, maximum: Int) -> Self { Self(kind: .full(limit, maximum: maximum)) }
    /// See `Code.invalid`.
    public static func invalid(_ rule: Rule) -> Self { Self(kind: .invalid(rule)) }
    /// See `Code.identityInUse`.
    public static func identityInUse(_ address: DeviceAddress) -> Self { Self(kind: .identityInUse(address)) }
    /// See `Code.noThread`.
    public static let noThread = Self(kind: .noThread)
    /// See `Code.overloaded`.
    public static func overloaded(maximum: Int) -> Self { Self(kind: .overloaded(maximum)) }
    /// See `Code.abandoned`.
    public static func abandoned(count: Int) -> Self { Self(kind: .abandoned(count)) }
    /// See `Code.noIdentity`.
    public static let noIdentity = Self(kind: .noIdentity)
    /// See `Code.failed`. Two errors of this kind are equal if the causes have the same type and description.
    public static func failed(_ cause: any Error) -> Self { Self(kind: .failed(Cause(cause))) }
}
