import BluetoothBase
import BluetoothHost
import BluetoothSMP

/// One local identity and its bonds. This is the content of one file, together with the rules for changing it.
struct BondShelf: Equatable, Sendable {
    private(set) var identity: DeviceIdentity
    /// The controllers that use this identity. A controller whose address is the identity address also uses it.
    private(set) var controllers: [DeviceAddress] = []
    /// Sorted by address. Each peer occurs once.
    private(set) var bonds: [Bond] = []

    init(_ identity: DeviceIdentity) { self.identity = identity }

    /// Creates a shelf with this content.
    ///
    /// - Returns: nil if the content breaks a rule.
    init?(_ identity: DeviceIdentity, controllers: [DeviceAddress], bonds: [Bond]) {
        guard identity.address.isIdentity, controllers.count <= BondLimits.identities, bonds.count <= BondLimits.bonds,
            Set(bonds.map(\.peer)).count == bonds.count, bonds.allSatisfy(Self.isValid)
        else { return nil }
        self.identity = identity
        self.controllers = controllers
        self.bonds = bonds.sorted(by: Self.isBefore)
    }

    static func ofController(_ controller: DeviceAddress, in shelves: [BondShelf]) -> BondShelf? {
        shelves.first { $0.controllers.contains(where: controller.isSameDevice) }
            ?? shelves.first { $0.identity.address.isSameDevice(as: controller) }
    }

    mutating func keep(_ identity: DeviceIdentity, for controller: DeviceAddress) throws(BondStoreError) {
        if bonds.isEmpty { self.identity = identity }
        try check(identity)
        guard !controllers.contains(where: controller.isSameDevice) else { return }
        guard controllers.count < BondLimits.identities else {
            throw .full(.controllers, maximum: BondLimits.identities)
        }
        controllers.append(controller)
    }

    /// Removes a controller, because it now uses another identity.
    mutating func leave(_ controller: DeviceAddress) { controllers.removeAll(where: controller.isSameDevice) }

    func bonds(of local: DeviceIdentity) throws(BondStoreError) -> [Bond] {
        if bonds.isEmpty { return [] }
        try check(local)
        return bonds
    }

    mutating func save(_ bond: Bond, of local: DeviceIdentity) throws(BondStoreError) {
        if bonds.isEmpty { identity = local }
        try check(local)
        guard bond.subscriptions.count <= BondLimits.subscriptions else {
            throw .full(.subscriptions, maximum: BondLimits.subscriptions)
        }
        guard Self.isValid(bond) else { throw .invalid(.keySize) }
        guard let index = bonds.firstIndex(where: { $0.peer == bond.peer }) else {
            guard bonds.count < BondLimits.bonds else { throw .full(.bonds, maximum: BondLimits.bonds) }
            bonds.append(bond)
            bonds.sort(by: Self.isBefore)
            return
        }
        var bond = bond
        bond.peerSignature = bond.peerSignature.map { $0.notBehind(bonds[index].peerSignature) }
        bond.localSignature = bond.localSignature.map { $0.notBehind(bonds[index].localSignature) }
        bonds[index] = bond
        bonds.sort(by: Self.isBefore)
    }

    mutating func remove(_ peer: PeerID, of local: DeviceIdentity) throws(BondStoreError) -> Bool {
        if bonds.isEmpty { return false }
        try check(local)
        guard let index = bonds.firstIndex(where: { $0.peer == peer }) else { return false }
        bonds.remove(at: index)
        return true
    }

    private func check(_ local: DeviceIdentity) throws(BondStoreError) {
        guard local.address.isIdentity else { throw .invalid(.identityAddress) }
        guard identity == local else { throw .identityInUse(local.address) }
    }

    private static func isBefore(_ one: Bond, _ other: Bond) -> Bool {
        (PeerID(one.address).rawValue, one.peer.rawValue) < (PeerID(other.address).rawValue, other.peer.rawValue)
    }

    private static func isValid(_ bond: Bond) -> Bool {
        (7...16).contains(bond.strength.keySize) && bond.subscriptions.count <= BondLimits.subscriptions
    }
}

extension SignatureKey {
    /// The same key, with a counter that is not lower than the stored one.
    fileprivate func notBehind(_ kept: SignatureKey?) -> SignatureKey {
        guard let kept, kept.key == key else { return self }
        return SignatureKey(key: key, counter: max(counter, kept.counter))
    }
}
