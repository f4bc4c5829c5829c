import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothSMP

/// Bonds: the keys of peers, kept from one connection to the next. The host holds them in memory, and the caller stores
/// them.
extension Host {
    // MARK: Calls

    /// The identity that peers receive in pairing; nil on a host without security, or before its controller was first
    /// up.
    public var identity: DeviceIdentity? {
        security.flatMap { $0.identity.address.value == 0 ? nil : $0.identity }
    }

    /// Restores the Identity Resolving Key of an earlier run, with which bonds were made.
    public mutating func setResolvingKey(_ key: UInt128, at now: Instant) {
        guard security != nil, security?.identity.resolvingKey != key else { return }
        security?.identity.resolvingKey = key
        privacy.renewAddress()
        updatePrivacy(at: now)
    }

    /// The bonds with peers, in no particular order.
    public var bonds: [Bond] { Array(peers.bonds.values) }

    /// Restores a bond of an earlier run, or imports one that was made elsewhere with this host's identity.
    public mutating func restore(_ bond: Bond, at now: Instant) {
        if bond.address.isIdentity { peers.learn(bond.address, of: bond.peer) }
        var bond = bond
        bond.peer = peers.lastingPeer(of: bond.peer)
        peers.setBond(bond)
        bondsChanged(at: now)
    }

    /// Removes the bond with a peer. A link that is encrypted with its keys stays encrypted until it ends.
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

    // MARK: Making and updating bonds

    /// Makes a bond from the result of a pairing. Returns nil if it conflicts with another bond, or if there is no room
    /// for it.
    mutating func keep(_ result: PairingResult, _ slot: LinkSlot, at now: Instant) -> MadeBond? {
        let name = links.at[slot.index].lastingPeer
        // A bonded peer with private addresses that does not distribute an identity this time keeps its known identity.
        // If it distributes a different one, it is a different device, which has learned the peer's key or replays one
        // of its addresses.
        let former = peers.bond(with: name)?.identity
        if let former, let new = result.peerIdentity, PeerID(new.address) != PeerID(former.address) {
            handle(.bondClaimed, of: slot, at: now)
            return nil
        }
        let identity = result.peerIdentity ?? former
        let address = identity?.address ?? links.at[slot.index].address
        if let known = peers.bond(with: peers.peer(at: address)), known.peer != name {
            // The device has a different address and claims the identity of a bonded peer, without having proved that
            // peer's key. It may replace the bond only with the same resolving key and keys that are at least as
            // strong, and not with Just Works.
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
            // Cannot fail: the address is an identity address, and the link exists.
            _ = try? learnIdentity(address, of: link, at: now)
        }
        var bond = Bond(peer: links.at[slot.index].lastingPeer, address: address, strength: result.strength)
        bond.identity = identity
        bond.centralKey = result.centralKey
        bond.peripheralKey = result.peripheralKey
        bond.peerSignature = result.peerSignatureKey.map { SignatureKey(key: $0) }
        bond.localSignature = result.localSignatureKey.map { SignatureKey(key: $0) }
        bond.subscriptions = links.at[slot.index].endpoint.servedClient.subscriptions
        bond.clientSupportedFeatures = links.at[slot.index].endpoint.servedClient.clientSupportedFeatures
        bond.servedDatabaseHash = servedDatabaseHash(links.at[slot.index])
        bond.keep(links.at[slot.index].attributes)
        bond.name = peers.bond(with: name)?.name
        bond.serviceChangedHandle =
            links.at[slot.index].peerServiceChanged.handleToKeep ?? peers.bond(with: name)?.serviceChangedHandle
        let made = MadeBond(link: links.at[slot.index].identifier, bond: bond, former: peers.bond(with: bond.peer))
        guard peers.setBond(bond) else { return nil }
        // The new signing key has its own counter.
        signingCounters.forget(bond.peer)
        events.append(configuration.storesBonds ? .bondMade(made) : .bondChanged(bond))
        bondsChanged(at: now)
        return made
    }

    /// Saves the configuration of a bonded client, which persists beyond its link (Core 5.4, Vol 3, Part G, 2.4). Only
    /// configuration over an encrypted link counts, because any device can use the client's address.
    mutating func updateBond(of link: borrowing Link) {
        guard link.protection.strength != nil, let known = peers.bond(with: link.lastingPeer) else { return }
        var bond = known
        bond.subscriptions = link.endpoint.servedClient.subscriptions
        bond.clientSupportedFeatures = link.endpoint.servedClient.clientSupportedFeatures
        bond.servedDatabaseHash = servedDatabaseHash(link)
        bond.keep(link.attributes)
        guard bond != known else { return }
        peers.setBond(bond)
        events.append(.bondChanged(bond))
    }

    /// The hash of the database that the peer knows. If the peer may have missed a change, the result is 0, which is no
    /// database's hash, so that the peer is notified on the next link.
    private mutating func servedDatabaseHash(_ link: borrowing Link) -> UInt128? {
        let isMissed = link.serviceChange.isPending || link.endpoint.servedClient.isChangeUnaware
        return isMissed && security != nil ? 0 : ownDatabaseHash()
    }

    /// Restores the subscriptions of a bonded client once its link is encrypted. Also indicates service changes that it
    /// missed (Vol 3, Part G, 2.5.2).
    mutating func restoreSubscriptions(of bond: Bond, _ slot: LinkSlot, at now: Instant) {
        let link = links.at[slot.index].identifier
        for change in links.at[slot.index].endpoint.restore(
            bond.subscriptions, features: bond.clientSupportedFeatures, from: server)
        {
            events.append(.server(link, .subscriptionChanged(change)))
        }
        guard let served = bond.servedDatabaseHash, served != ownDatabaseHash() else { return }
        // A change-unaware client must not use handles that may be wrong, even if it has not subscribed to changes
        // (2.5.2.1).
        links.at[slot.index].endpoint.databaseChanged()
        // The host has no record of which services changed.
        announceServiceChange(.changed(0x0001...0xFFFF), slot, at: now)
    }

    // MARK: Changes of the peer's services

    /// Whether the bond with a link's peer has the handle of its Service Changed value: the peer has indicated changes
    /// since an earlier link.
    package func watchesServices(of link: LinkIdentifier) -> Bool {
        links.slot(of: link).flatMap { bond(of: $0) }?.serviceChangedHandle != nil
    }

    /// Whether this is the handle of a peer's Service Changed value, as far as it is known.
    package func isServiceChanged(_ handle: AttributeHandle, of link: LinkIdentifier) -> Bool {
        links.slot(of: link).map { isServiceChanged(handle, $0) } ?? false
    }

    /// Whether an indication is Service Changed. It is accepted from any peer, because it only invalidates information
    /// that the same peer has provided about its services on this link.
    func isServiceChanged(_ handle: AttributeHandle, _ slot: LinkSlot) -> Bool {
        handle == links.at[slot.index].peerServiceChanged.handle || handle == bond(of: slot)?.serviceChangedHandle
    }

    /// Records the handle of the peer's Service Changed value for this link.
    package mutating func serviceChangedFound(_ handle: AttributeHandle, of link: LinkIdentifier) {
        guard let slot = links.slot(of: link) else { return }
        links.at[slot.index].peerServiceChanged.found(handle)
    }

    /// Records that the peer indicates its Service Changed value. A bond keeps the handle, because on the next link the
    /// peer may indicate a change before the handle could be discovered. Without a bond, or on a link that is not
    /// encrypted, the handle is known for this link only.
    package mutating func serviceChangedWatched(on link: LinkIdentifier) {
        guard let slot = links.slot(of: link) else { return }
        links.at[slot.index].peerServiceChanged.watched()
        guard let handle = links.at[slot.index].peerServiceChanged.handleToKeep,
            links.at[slot.index].protection.strength != nil, var bond = bond(of: slot),
            bond.serviceChangedHandle != handle
        else { return }
        bond.serviceChangedHandle = handle
        peers.setBond(bond)
        events.append(.bondChanged(bond))
    }

    /// Keeps the name of a bonded peer with its bond, so that the name is known before the next link. A name has at
    /// most 248 octets (Vol 3, Part C, 12.1).
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
