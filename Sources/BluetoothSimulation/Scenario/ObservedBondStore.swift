import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import BluetoothSMP

/// The bonds of a station. They outlive its process, and each change is reported.
final class ObservedBondStore: BondStoreDecorator, @unchecked Sendable {
    // Unchecked: only used on the world's thread.

    let store = MemoryBondStore()
    /// Called before a bond is saved, with the bond it replaces.
    var willSave: (_ bond: Bond, _ old: Bond?) -> Void = { _, _ in }
    var willRemove: (PeerID) -> Void = { _ in }

    /// The time at which a bond was last saved or removed.
    private(set) var lastChange: Instant?
    private let now: () -> Instant

    init(now: @escaping () -> Instant) { self.now = now }

    /// Each distinct set of keys that was ever saved.
    private(set) var everKept: [Bond] = []

    /// All bonds, whatever their local identity: a device keeps the identity it had first.
    var all: [Bond] {
        guard let identities = try? store.identities() else { return [] }
        return identities.flatMap { (try? store.bonds(of: $0)) ?? [] }
    }

    func bond(with address: DeviceAddress) -> Bond? { all.first { PeerID($0.address) == PeerID(address) } }

    func save(_ bond: Bond, of local: DeviceIdentity) throws(BondStoreError) {
        willSave(bond, self.bond(with: bond.address))
        try store.save(bond, of: local)
        lastChange = now()
        if !everKept.contains(where: { $0.hasSameKeys(as: bond) }) { everKept.append(bond) }
    }

    @discardableResult
    func remove(_ peer: PeerID, of local: DeviceIdentity) throws(BondStoreError) -> Bool {
        willRemove(peer)
        lastChange = now()
        return try store.remove(peer, of: local)
    }
}
