import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import BluetoothSMP

/// The bonds of a station, which outlive its process, and what tells of each change.
final class ObservedBondStore: BondStore, @unchecked Sendable {
    // Unchecked: used on the world's thread alone.

    private let store = MemoryBondStore()
    /// Called before a bond is kept, with the one it replaces.
    var willSave: (_ bond: Bond, _ old: Bond?) -> Void = { _, _ in }
    var willRemove: (PeerID) -> Void = { _ in }

    /// Each set of keys that was ever kept.
    private(set) var everKept: [Bond] = []

    /// All bonds, of whatever identity: a device keeps the one it had first.
    var all: [Bond] {
        guard let identities = try? store.identities() else { return [] }
        return identities.flatMap { (try? store.bonds(of: $0)) ?? [] }
    }

    func bond(with address: DeviceAddress) -> Bond? { all.first { PeerID($0.address) == PeerID(address) } }

    func identities() throws(BondStoreError) -> [DeviceIdentity] { try store.identities() }

    func identity(for controller: DeviceAddress) throws(BondStoreError) -> DeviceIdentity? {
        try store.identity(for: controller)
    }

    func keep(_ identity: DeviceIdentity, for controller: DeviceAddress) throws(BondStoreError) {
        try store.keep(identity, for: controller)
    }

    func bonds(of local: DeviceIdentity) throws(BondStoreError) -> [Bond] { try store.bonds(of: local) }

    func save(_ bond: Bond, of local: DeviceIdentity) throws(BondStoreError) {
        willSave(bond, self.bond(with: bond.address))
        try store.save(bond, of: local)
        if !everKept.contains(where: { $0.hasSameKeys(as: bond) }) { everKept.append(bond) }
    }

    @discardableResult
    func remove(_ peer: PeerID, of local: DeviceIdentity) throws(BondStoreError) -> Bool {
        willRemove(peer)
        return try store.remove(peer, of: local)
    }
}
