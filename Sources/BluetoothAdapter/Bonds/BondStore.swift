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

extension BondStoreError {
    /// See `Code.system`.
    ///
    /// - Parameters:
    ///   - action: a verb for the description, such as `write`.
    ///   - errno: the error number of the system call.
    public static func system(_ action: String, path: String, errno: Int32) -> Self {
        Self(kind: .system(action: action, path: path, errorNumber: errno, text: Errno(errno).text))
    }
}
