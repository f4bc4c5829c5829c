import BluetoothBase
import BluetoothHost
import BluetoothSMP
import Synchronization

/// Keeps bonds only until the program ends, for tests and for devices that must pair again after each start.
public final class MemoryBondStore: BondStore {
    private let shelves = Mutex<[PeerID: BondShelf]>([:])

    /// Creates an empty store.
    public init() {}

    /// The local identities in the store, sorted by address.
    public func identities() throws(BondStoreError) -> [DeviceIdentity] {
        let identities = shelves.withLock { $0.values.map(\.identity) }
        return identities.sorted { PeerID($0.address).rawValue < PeerID($1.address).rawValue }
    }

    /// The identity kept for a controller, otherwise the one whose address is the address of the controller; nil if
    /// neither exists.
    public func identity(for controller: DeviceAddress) throws(BondStoreError) -> DeviceIdentity? {
        shelves.withLock { BondShelf.ofController(controller, in: Array($0.values))?.identity }
    }

    /// Keeps the identity that this device uses with a controller, in place of the previous one.
    public func keep(_ identity: DeviceIdentity, for controller: DeviceAddress) throws(BondStoreError) {
        try change(identity) { (shelf) throws(BondStoreError) in try shelf.keep(identity, for: controller) }
        shelves.withLock { shelves in
            for key in shelves.keys where key != PeerID(identity.address) { shelves[key]?.leave(controller) }
        }
    }

    /// The bonds of an identity, sorted by address. Empty if the store does not know the identity.
    public func bonds(of local: DeviceIdentity) throws(BondStoreError) -> [Bond] {
        guard let shelf = shelves.withLock({ $0[PeerID(local.address)] }) else { return [] }
        return try shelf.bonds(of: local)
    }

    /// Adds a bond, or replaces the bond with the same peer. The counters of the signature keys never decrease.
    public func save(_ bond: Bond, of local: DeviceIdentity) throws(BondStoreError) {
        try change(local) { (shelf) throws(BondStoreError) in try shelf.save(bond, of: local) }
    }

    /// Removes the bond with a peer. Returns false if no such bond exists.
    @discardableResult
    public func remove(_ peer: PeerID, of local: DeviceIdentity) throws(BondStoreError) -> Bool {
        guard shelves.withLock({ $0[PeerID(local.address)] != nil }) else { return false }
        return try change(local) { (shelf) throws(BondStoreError) in try shelf.remove(peer, of: local) }
    }

    private func change<Result>(
        _ local: DeviceIdentity, _ body: (inout BondShelf) throws(BondStoreError) -> Result
    ) throws(BondStoreError) -> Result {
        try shelves.withLock { (shelves) throws(BondStoreError) -> Result in
            let name = PeerID(local.address)
            guard shelves[name] != nil || shelves.count < BondLimits.identities else {
                throw .full(.identities, maximum: BondLimits.identities)
            }
            var shelf = shelves[name] ?? BondShelf(local)
            let result = try body(&shelf)
            shelves[name] = shelf
            return result
        }
    }
}
