import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothSMP

/// Bonds: the keys of peers, kept from one connection to the next. The host holds them; its caller stores them.
extension Host {
    // MARK: Calls

    /// The identity that peers get in pairing; nil on a host that does not pair, or whose controller was never up.
    public var identity: DeviceIdentity? {
        security.flatMap { $0.identity.address.value == 0 ? nil : $0.identity }
    }

    /// Restores the Identity Resolving Key of an earlier run, which bonds were made with.
    public mutating func setResolvingKey(_ key: UInt128, at now: Instant) {
        guard security != nil, security?.identity.resolvingKey != key else { return }
        security?.identity.resolvingKey = key
        privacy.renewAddress()
        updatePrivacy(at: now)
    }

    /// The bonds with peers, in no order.
    public var bonds: [Bond] { Array(peers.bonds.values) }

    /// Restores a bond of an earlier run, or takes over one that was made elsewhere with this host's identity.
    public mutating func restore(_ bond: Bond, at now: Instant) {
        if bond.address.isIdentity { peers.learn(bond.address, of: bond.peer) }
        var bond = bond
        bond.peer = peers.lastingName(of: bond.peer)
        peers.setBond(bond)
        bondsChanged(at: now)
    }

    /// Forgets the keys of a peer. A link that is encrypted with them stays so until it ends.
    ///
    /// - Returns: the bond; nil if there was none.
    @discardableResult
    public mutating func removeBond(with peer: PeerID, at now: Instant) -> Bond? {
        guard let bond = peers.removeBond(with: peer) else { return nil }
        signingCounters.forget(bond.peer)
        bondsChanged(at: now)
        return bond
    }

    /// The bond with the peer of a link.
    func bond(of slot: LinkSlot) -> Bond? { peers.bond(with: links.at[slot.index].lastingPeer) }

    // MARK: Keeping them

    /// Makes a bond of the result of a pairing. Nil if another bond is in the way.
    mutating func keep(_ result: PairingResult, _ slot: LinkSlot, at now: Instant) -> MadeBond? {
        let name = links.at[slot.index].lastingPeer
        // A peer that is known by its private addresses, and distributes no identity this time, keeps the one it has. With
        // another one it is somebody else, who knows its key or repeats an address of it.
        let former = peers.bond(with: name)?.identity
        if let former, let new = result.peerIdentity, PeerID(new.address) != PeerID(former.address) {
            handle(.bondClaimed, of: slot, at: now)
            return nil
        }
        let identity = result.peerIdentity ?? former
        let address = identity?.address ?? links.at[slot.index].address
        if let known = peers.bond(with: peers.peer(at: address)), known.peer != name {
            // A device that comes under another address and claims to be one that is bonded. Only with the same resolving
            // key and keys at least as strong may it take the place of that, and not by Just Works: it has not shown its key.
            let claim = PairingParameters(minimumStrength: known.strength, provesExistingKeys: false)
            guard known.identity == identity,
                security?.policy.requirement(for: claim).isMet(by: result.strength) == true
            else {
                handle(.bondClaimed, of: slot, at: now)
                return nil
            }
        }
        if address.isIdentity,
            let link = links.slot(of: links.at[slot.index].identifier).map({ links.at[$0.index].identifier })
        {
            // The address is an identity, and the link exists: it can't fail.
            _ = try? learnIdentity(address, of: link, at: now)
        }
        var bond = Bond(peer: links.at[slot.index].lastingPeer, address: address, strength: result.strength)
        bond.identity = identity
        bond.centralKey = result.centralKey
        bond.peripheralKey = result.peripheralKey
        bond.peerSignature = result.peerSignatureKey.map { SignatureKey(key: $0) }
        bond.localSignature = result.localSignatureKey.map { SignatureKey(key: $0) }
        bond.subscriptions = links.at[slot.index].endpoint.peer.subscriptions
        bond.clientSupportedFeatures = links.at[slot.index].endpoint.peer.clientSupportedFeatures
        bond.servedDatabaseHash = servedDatabaseHash(links.at[slot.index])
        bond.keep(links.at[slot.index].attributes)
        bond.name = peers.bond(with: name)?.name
        let made = MadeBond(link: links.at[slot.index].identifier, bond: bond, former: peers.bond(with: bond.peer))
        guard peers.setBond(bond) else { return nil }
        // The new key to sign with has a counter of its own.
        signingCounters.forget(bond.peer)
        events.append(configuration.storesBonds ? .bondMade(made) : .bondChanged(bond))
        bondsChanged(at: now)
        return made
    }

    /// What a bonded client has configured outlives its link (Core 5.4, Vol 3, Part G, 2.4). Only what it has configured
    /// over an encrypted link: anyone can take its address.
    mutating func updateBond(of link: borrowing Link) {
        guard link.protection.strength != nil, let known = peers.bond(with: link.lastingPeer) else { return }
        var bond = known
        bond.subscriptions = link.endpoint.peer.subscriptions
        bond.clientSupportedFeatures = link.endpoint.peer.clientSupportedFeatures
        bond.servedDatabaseHash = servedDatabaseHash(link)
        bond.keep(link.attributes)
        guard bond != known else { return }
        peers.setBond(bond)
        events.append(.bondChanged(bond))
    }

    /// The hash of the database that the peer knows. 0, which is no database's, where it may have missed a change: it is told
    /// on the next link.
    private mutating func servedDatabaseHash(_ link: borrowing Link) -> UInt128? {
        let isMissed = link.serviceChange.isPending || link.endpoint.peer.isChangeUnaware
        return isMissed && security != nil ? 0 : ownDatabaseHash()
    }

    /// Gives a bonded client its subscriptions back, once its link is encrypted, and tells it of changes of services while it
    /// was away (Vol 3, Part G, 2.5.2).
    mutating func restoreSubscriptions(of bond: Bond, _ slot: LinkSlot, at now: Instant) {
        let link = links.at[slot.index].identifier
        for change in links.at[slot.index].endpoint.restore(
            bond.subscriptions, features: bond.clientSupportedFeatures, from: server)
        {
            events.append(.server(link, .subscriptionChanged(change)))
        }
        guard let served = bond.servedDatabaseHash, served != ownDatabaseHash() else { return }
        // A client that caches is kept from handles that may be wrong now, subscribed to changes or not (2.5.2.1).
        links.at[slot.index].endpoint.databaseChanged()
        // Which services, nobody has kept.
        announceServiceChange(.changed(0x0001...0xFFFF), slot, at: now)
    }

    // MARK: Changes of the peer's services

    /// The handle of the Service Changed value of a bonded peer's server; nil if it is not known.
    public func serviceChangedHandle(of link: LinkIdentifier) -> AttributeHandle? {
        links.slot(of: link).flatMap { bond(of: $0) }?.serviceChanged
    }

    /// Whether an indication tells of changed services. That is heard from whoever the peer is: what it changes is what the same
    /// peer has said of its services on this link.
    func isServiceChanged(_ handle: AttributeHandle, _ slot: LinkSlot) -> Bool {
        handle == links.at[slot.index].serviceChanged || handle == bond(of: slot)?.serviceChanged
    }

    /// Keeps the handle of the peer's Service Changed value with the bond: on the next link the peer indicates changes before
    /// anybody can ask for that handle. Where there is no bond, or what the peer says may be anybody's, it is kept for this
    /// link alone.
    public mutating func keepServiceChangedHandle(_ handle: AttributeHandle, of link: LinkIdentifier) {
        guard let slot = links.slot(of: link) else { return }
        links.at[slot.index].serviceChanged = handle
        guard links.at[slot.index].protection.strength != nil, var bond = bond(of: slot), bond.serviceChanged != handle
        else { return }
        bond.serviceChanged = handle
        peers.setBond(bond)
        events.append(.bondChanged(bond))
    }

    /// Keeps the name of a bonded peer with the bond, so that it is known before the next link. A name has at most 248 octets (Vol 3,
    /// Part C, 12.1).
    package mutating func keepName(_ name: String, of link: LinkIdentifier) {
        guard let slot = links.slot(of: link), links.at[slot.index].protection.strength != nil,
            var bond = bond(of: slot),
            bond.name != name, name.utf8.count <= 248
        else { return }
        bond.name = name
        peers.setBond(bond)
        events.append(.bondChanged(bond))
    }

    mutating func bondsChanged(at now: Instant) {
        for slot in links.slots where links.at[slot.index].isInUse { settleSecurity(slot, at: now) }
        updatePrivacy(at: now)
    }
}
