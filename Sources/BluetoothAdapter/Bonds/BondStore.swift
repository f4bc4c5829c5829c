import BluetoothBase
import BluetoothHost
import BluetoothSMP
import HCITransport

/// Keeps bonds, and the identities of this device that they were made with, from one run to the next.
///
/// Its calls are synchronous, and a store on disk makes them wait for the disk: some milliseconds as a rule, at most
/// some seconds where another program holds the store up. They may come from any thread. A call that has returned has
/// happened, whatever happens to the program then; a call that throws has changed nothing, but for a damaged file that it
/// has set aside.
public protocol BondStore: Sendable {
    /// The identities of this device that are kept.
    func identities() throws(BondStoreError) -> [DeviceIdentity]

    /// The identity that was kept for a controller; nil if there is none yet: make one, and `keep` it.
    ///
    /// - Parameter controller: the controller's public address, or whatever else it is known by.
    func identity(for controller: DeviceAddress) throws(BondStoreError) -> DeviceIdentity?

    /// Keeps the identity this device has with a controller, instead of the one kept before.
    ///
    /// - Throws: `.identityInUse` if the store has bonds of that identity's address with another IRK.
    func keep(_ identity: DeviceIdentity, for controller: DeviceAddress) throws(BondStoreError)

    /// The bonds of an identity, in the order of their addresses.
    ///
    /// - Throws: `.identityInUse` if the store has bonds of that address with another IRK.
    func bonds(of local: DeviceIdentity) throws(BondStoreError) -> [Bond]

    /// Adds a bond, or replaces the one with the same peer. The counters of a signature key never go back: where the
    /// store has a higher one for the same key, that stays.
    ///
    /// - Throws: `.full` if it is one bond too many; `.identityInUse`.
    func save(_ bond: Bond, of local: DeviceIdentity) throws(BondStoreError)

    /// Removes the bond with a peer. Returns false if there is none.
    ///
    /// - Throws: `.identityInUse`.
    @discardableResult
    func remove(_ peer: PeerID, of local: DeviceIdentity) throws(BondStoreError) -> Bool
}

extension BondStore {
    /// Removes the bond with a peer at this address: its identity address, or the one it paired under. Returns false if
    /// there is none.
    @discardableResult
    public func remove(_ address: DeviceAddress, of local: DeviceIdentity) throws(BondStoreError) -> Bool {
        let bond = try bonds(of: local).first { $0.address.isSameDevice(as: address) }
        guard let bond else { return false }
        return try remove(bond.peer, of: local)
    }
}

extension DeviceAddress {
    /// Whether this is the same address, resolved by a controller or not.
    package func isSameDevice(as other: DeviceAddress) -> Bool { PeerID(self) == PeerID(other) }
}

/// Bounds of a store of bonds.
public enum BondLimits {
    /// The most bonds of one identity.
    public static let bonds = 1024
    /// The most identities.
    public static let identities = 64
    /// The most subscriptions of one bond.
    public static let subscriptions = 256
}

/// Why bonds could not be read or kept. Its text says what to do.
public enum BondStoreError: Error, Equatable, Sendable {
    /// The environment does not say where bonds are kept.
    case noDirectory
    /// The operating system refuses: what it was asked to do, where, and its error.
    case system(String, path: String, errno: Int32)
    /// A file was damaged, and has been set aside under another name; nil if that failed too. The call had no other effect.
    /// Made again, it finds the store without the file.
    case damaged(path: String, reason: String, setAside: String?)
    /// The file was written by a later version of this package. It is left as it is.
    case laterVersion(path: String)
    /// Others than this user can read the file, or write the directory.
    case exposed(path: String, isDirectory: Bool)
    /// Another program has held the store for too long.
    case busy(path: String)
    /// The store has as many bonds, identities, or subscriptions of one bond as it keeps.
    case full(String, maximum: Int)
    /// What is to be kept is nothing that pairing leads to; the text says why.
    case invalid(String)
    /// The store has bonds of this identity address with another IRK.
    case identityInUse(DeviceAddress)
    /// The process has no thread left to write with.
    case noThread
    /// This many new bonds wait for the disk, and the next one is not kept.
    case overloaded(Int)
    /// The adapter closed before this many changes of bonds were written.
    case abandoned(Int)
    /// Bonds are made with an identity, and the adapter has none: its controller was never ready.
    case noIdentity
}

extension BondStoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noDirectory:
            "there is no place for bonds; set XDG_STATE_HOME or HOME to an absolute path, or name a directory"
        case .system(let action, let path, let errno):
            "cannot \(action) \(path): \(Errno(errno).text); mend that or name another directory for bonds"
        case .damaged(let path, let reason, .some(let place)):
            "\(path) cannot be used: \(reason); it is now \(place), restore it from a backup or pair again"
        case .damaged(let path, let reason, .none):
            "\(path) cannot be used: \(reason); it cannot be set aside either, move it away"
        case .laterVersion(let path):
            "\(path) was written by a later version of this program; use that, or name another directory for bonds"
        case .exposed(let path, true):
            "others can write \(path), where keys are kept; allow only yourself: chmod 700 \(path)"
        case .exposed(let path, false):
            "others can read the keys in \(path); if nobody has, allow only yourself: chmod 600 \(path)"
        case .busy(let path):
            "another program holds \(path); try again when that is done"
        case .full(let what, let maximum):
            "there are \(maximum) \(what), and no more are kept; remove some that are not needed"
        case .invalid(let reason):
            "this cannot be kept: \(reason)"
        case .noThread: "there is no thread to write bonds with; stop other programs, and pair again"
        case .overloaded(let count):
            "\(count) new bonds wait for the disk, and the next one is not kept; pair again when the disk responds"
        case .abandoned(let count):
            """
            the adapter closed before \(count) \(count == 1 ? "change" : "changes") of bonds could be written; look for what holds \
            up the disk, and pair again if a bond is missing
            """
        case .noIdentity: "a bond was not written, because the adapter has no identity yet; wait until it is ready"
        case .identityInUse(let address):
            "there are bonds of \(address) with another identity key; remove them, or name another directory for bonds"
        }
    }
}
