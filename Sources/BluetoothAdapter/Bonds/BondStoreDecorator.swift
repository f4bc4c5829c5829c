import BluetoothBase
import BluetoothHost
import BluetoothSMP

/// A bond store that wraps another one, which handles all calls that the decorator does not implement.
package protocol BondStoreDecorator: BondStore {
    associatedtype Store: BondStore

    /// The wrapped store.
    var store: Store { get }
}

extension BondStoreDecorator {
    package func identities() throws(BondStoreError) -> [DeviceIdentity] { try store.identities() }

    package func identity(for controller: DeviceAddress) throws(BondStoreError) -> DeviceIdentity? {
        try store.identity(for: controller)
    }

    package func keep(_ identity: DeviceIdentity, for controller: DeviceAddress) throws(BondStoreError) {
        try store.keep(identity, for: controller)
    }

    package func bonds(of local: DeviceIdentity) throws(BondStoreError) -> [Bond] { try store.bonds(of: local) }

    package func save(_ bond: Bond, of local: DeviceIdentity) throws(BondStoreError) {
        try store.save(bond, of: local)
    }

    @discardableResult
    package func remove(_ peer: PeerID, of local: DeviceIdentity) throws(BondStoreError) -> Bool {
        try store.remove(peer, of: local)
    }
}
