import BluetoothBase
import BluetoothHost
import BluetoothSMP
import HCITransport

/// Stores bonds, and the local identities they were made with, across runs.
///
/// The calls are synchronous, and with a store on disk they block: typically for milliseconds, at most for a few
/// seconds if another program holds the store. They may come from any thread. When a call returns, its change is
/// permanent, even if the program is killed immediately afterwards. A call that throws has changed nothing, except that
/// it may have set a damaged file aside.
public protocol BondStore: Sendable {
    /// The local identities in the store.
    func identities() throws(BondStoreError) -> [DeviceIdentity]

    /// The identity stored for a controller; nil if none exists yet. In that case, create one and `keep` it.
    ///
    /// - Parameter controller: the controller's public address, or another address that identifies it.
    func identity(for controller: DeviceAddress) throws(BondStoreError) -> DeviceIdentity?

    /// Stores the identity that this device uses with a controller, replacing the previous one.
    ///
    /// - Throws: `.identityInUse` if the store has bonds of that identity's address with another IRK.
    func keep(_ identity: DeviceIdentity, for controller: DeviceAddress) throws(BondStoreError)

    /// The bonds of an identity, sorted by address.
    ///
    /// - Throws: `.identityInUse` if the store has bonds of that address with another IRK.
    func bonds(of local: DeviceIdentity) throws(BondStoreError) -> [Bond]

    /// Adds a bond, or replaces the bond with the same peer. The counter of a signature key never decreases: if the
    /// store has a higher counter for the same key, it keeps that one.
    ///
    /// - Throws: `.full` if the store has no room for another bond; `.identityInUse`.
    func save(_ bond: Bond, of local: DeviceIdentity) throws(BondStoreError)

    /// Removes the bond with a peer. Returns false if no such bond exists.
    ///
    /// - Throws: `.identityInUse`.
    @discardableResult
    func remove(_ peer: PeerID, of local: DeviceIdentity) throws(BondStoreError) -> Bool
}

extension BondStore {
    /// Removes the bond with the peer at this address: its identity address, or the address it paired with. Returns
    /// false if no such bond exists.
    @discardableResult
    public func remove(_ address: DeviceAddress, of local: DeviceIdentity) throws(BondStoreError) -> Bool {
        let bond = try bonds(of: local).first { $0.address.isSameDevice(as: address) }
        guard let bond else { return false }
        return try remove(bond.peer, of: local)
    }
}

extension DeviceAddress {
    /// Whether both addresses are the same, regardless of whether a controller resolved them.
    package func isSameDevice(as other: DeviceAddress) -> Bool { PeerID(self) == PeerID(other) }
}

/// Limits of a bond store.
public enum BondLimits {
    /// The maximum number of bonds per identity.
    public static let bonds = 1024
    /// The maximum number of identities.
    public static let identities = 64
    /// The maximum number of subscriptions per bond.
    public static let subscriptions = 256
}

/// Why bonds could not be read or stored. The description states what to do.
public enum BondStoreError: Error, Equatable, Sendable {
    /// No directory for bonds is given, and the environment does not name one.
    case noDirectory
    /// A system call failed: the action, the path, and the error number.
    case system(String, path: String, errno: Int32)
    /// A file is damaged and was renamed to `setAside`, which is nil if that failed as well. The call had no other
    /// effect. Repeat it, and it finds the store without the file.
    case damaged(path: String, reason: String, setAside: String?)
    /// The file was written by a later version of this package. It was not changed.
    case laterVersion(path: String)
    /// Other users can read the file, or write to the directory.
    case exposed(path: String, isDirectory: Bool)
    /// Another program held the store for too long.
    case busy(path: String)
    /// The store has reached its maximum number of bonds, of identities, or of subscriptions per bond.
    case full(String, maximum: Int)
    /// The bond or identity cannot be the result of pairing. The text states why.
    case invalid(String)
    /// The store has bonds of this identity address with another IRK.
    case identityInUse(DeviceAddress)
    /// The process could not create a thread for writing.
    case noThread
    /// This number of new bonds, the maximum, is waiting for the disk. The next bond is not stored.
    case overloaded(Int)
    /// The adapter closed before this number of bond changes was written.
    case abandoned(Int)
    /// A bond requires a local identity, but the adapter has none because its controller was never ready.
    case noIdentity
}

extension BondStoreError: CustomStringConvertible {
    /// One line that states what failed and what can be done about it. It may contain paths and addresses, but no key.
    public var description: String {
        switch self {
        case .noDirectory:
            "no directory for bonds is set; set XDG_STATE_HOME or HOME to an absolute path, or choose a directory"
        case .system(let action, let path, let errno):
            "cannot \(action) \(path): \(Errno(errno).text); fix that, or choose another directory for bonds"
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
        case .busy(let path):
            "another program has locked \(path); try again when it is done"
        case .full(let what, let maximum):
            "the maximum of \(maximum) \(what) is reached; remove some that are not needed"
        case .invalid(let reason):
            "this cannot be stored: \(reason)"
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
        }
    }
}
