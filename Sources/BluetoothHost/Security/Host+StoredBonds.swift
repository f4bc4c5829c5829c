import BluetoothBase
import BluetoothSMP

/// Pairings whose bond is being stored. A pairing succeeds only when its bond would survive the end of the program.
extension Host {
    /// Notes that the bond of `HostEvent.bondMade` was stored, or could not be for the reason `failure`. In the latter
    /// case the pairing fails, and the peer keeps its previous bond.
    public mutating func bondWritten(_ made: MadeBond, failure: BondStoreError?, at now: Instant) {
        guard let slot = links.slot(of: made.link),
            let effect = links.at[slot.index].protection.conclude(.bondWritten(made, failure: failure))
        else {
            if failure != nil { revert(made, at: now) }
            return
        }
        perform(effect, slot, at: now)
    }

    /// Performs the effect of an event of a pairing's result.
    mutating func perform(_ effect: PairingConclusion.Effect?, _ slot: LinkSlot, at now: Instant) {
        switch effect {
        case nil: return
        case .conclude(let outcome): confirmed(outcome, slot, at: now)
        case .reportStored(let made, let strength, let failure, let sequel):
            bondStored(made, strength, failure: failure, slot, at: now)
            proceed(with: sequel, slot, at: now)
        case .revert(let made, let sequel):
            storingTimedOut(made, slot, at: now)
            proceed(with: sequel, slot, at: now)
        case .reportFailure(let error):
            events.append(.security(links.at[slot.index].identifier, .pairingFailed(error)))
        }
    }

    private mutating func proceed(with sequel: PairingConclusion.Sequel, _ slot: LinkSlot, at now: Instant) {
        if let outcome = sequel.outcome { pairingEnded(outcome, slot, at: now) }
        if let pdu = sequel.heldPDU { receiveSecurity(pdu.span, slot, at: now) }
    }

    /// Reports the end of the pairing before the change of the link's security that follows from it.
    private mutating func bondStored(
        _ made: MadeBond, _ strength: KeyStrength, failure: BondStoreError?, _ slot: LinkSlot, at now: Instant
    ) {
        // The bond may have been removed in the meantime. The link is protected then, but the peer has no bond.
        let event: HostEvent.Security =
            if let failure {
                .pairingFailed(.bondNotStored(failure))
            } else {
                .paired(strength, isBonded: keptBond(made) != nil)
            }
        events.append(.security(links.at[slot.index].identifier, event))
        if failure != nil { revert(made, at: now) }
    }

    /// The same timeout as for the procedures of a pairing (Core 5.4, Vol 3, Part H, 3.4).
    static let storingTimeout = Duration.seconds(30)

    /// Reverts the bond, even if the write succeeds later.
    private mutating func storingTimedOut(_ made: MadeBond, _ slot: LinkSlot, at now: Instant) {
        events.append(.security(links.at[slot.index].identifier, .pairingFailed(.bondNotStored(nil))))
        // If the bond was removed or replaced in the meantime, the store will be correct after the pending write.
        if keptBond(made) != nil {
            revert(made, at: now)
            events.append(made.former.map { .bondChanged($0) } ?? .bondVoid(made.bond))
        }
    }

    /// Adopts the stored bond with a peer when all pending changes have been written. After a failure the host's copy
    /// may differ: a bond whose removal failed still exists.
    public mutating func bondSettled(of peer: PeerID, stored: Bond?, at now: Instant) {
        switch (peers.bond(with: peer), stored) {
        case (nil, nil): return
        case (let known?, let stored?) where known.hasKeys(of: stored): return
        case (_, let stored?):
            restore(stored, at: now)
            signingCounters.forget(peers.lastingPeer(of: stored.peer))
            encryptLinks(with: stored.peer, at: now)
        case (let known?, nil): removeBond(with: known.peer, at: now)
        }
    }

    /// Encrypts links that began before the bond was restored. They are not encrypted, and not trusted until they are.
    private mutating func encryptLinks(with peer: PeerID, at now: Instant) {
        let peer = peers.lastingPeer(of: peer)
        for slot in links.slots where links.at[slot.index].isInUse && links.at[slot.index].lastingPeer == peer {
            let isIdle = links.at[slot.index].life.isOpen && !isSecurityPending(on: links.at[slot.index].identifier)
            if isIdle, links.at[slot.index].protection.strength == nil { encryptWithBond(slot, at: now) }
        }
    }

    /// Restores the previous bond, unless the new one was removed, or replaced by a later pairing.
    private mutating func revert(_ made: MadeBond, at now: Instant) {
        guard let known = keptBond(made) else { return }
        guard let former = made.former else {
            removeBond(with: known.peer, at: now)
            return
        }
        restore(former, at: now)
        signingCounters.forget(known.peer)
    }

    /// The current state of a bond; nil if it was removed or replaced after it was made.
    private func keptBond(_ made: MadeBond) -> Bond? {
        peers.bond(with: made.bond.peer).flatMap { $0.hasKeys(of: made.bond) ? $0 : nil }
    }
}

extension Bond {
    /// Whether both bonds were made by the same pairing.
    package func hasKeys(of other: Bond) -> Bool {
        centralKey == other.centralKey && peripheralKey == other.peripheralKey && identity == other.identity
    }
}
