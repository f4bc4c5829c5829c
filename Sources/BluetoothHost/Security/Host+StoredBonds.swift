import BluetoothBase
import BluetoothSMP

/// Pairings whose bond is being stored. A pairing has succeeded once its bond survives the end of the program.
extension Host {
    /// The bond of `HostEvent.bondMade` has been stored, or could not be: then the pairing has failed, and the peer has the
    /// bond it had before.
    public mutating func bondWritten(_ made: MadeBond, isStored: Bool, at now: Instant) {
        guard let slot = links.slot(of: made.link),
            let effect = links.at[slot.index].protection.conclude(.bondWritten(made, isStored: isStored))
        else {
            if !isStored { revert(made, at: now) }
            return
        }
        perform(effect, slot, at: now)
    }

    /// Performs what follows from an event of the result of a pairing.
    mutating func perform(_ effect: PairingConclusion.Effect?, _ slot: LinkSlot, at now: Instant) {
        switch effect {
        case nil: return
        case .conclude(let outcome): confirmed(outcome, slot, at: now)
        case .reportStored(let made, let strength, let isStored, let sequel):
            bondStored(made, strength, isStored: isStored, slot, at: now)
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

    /// The end of the pairing comes before the change of the link's security that follows from it.
    private mutating func bondStored(
        _ made: MadeBond, _ strength: KeyStrength, isStored: Bool, _ slot: LinkSlot, at now: Instant
    ) {
        // It may have been removed meanwhile: the link is protected, and the peer has no bond.
        let event: HostEvent.Security =
            isStored ? .paired(strength, isBonded: keptBond(made) != nil) : .pairingFailed(.bondNotStored)
        events.append(.security(links.at[slot.index].identifier, event))
        if !isStored { revert(made, at: now) }
    }

    /// The same time as for all of a pairing's procedures (Core 5.4, Vol 3, Part H, 3.4).
    static let storingTimeout = Duration.seconds(30)

    /// The bond is not kept, even if the write succeeds later.
    private mutating func storingTimedOut(_ made: MadeBond, _ slot: LinkSlot, at now: Instant) {
        events.append(.security(links.at[slot.index].identifier, .pairingFailed(.bondNotStored)))
        // A bond that was removed or replaced meanwhile will be right in the store after the write.
        if keptBond(made) != nil {
            revert(made, at: now)
            events.append(made.former.map { .bondChanged($0) } ?? .bondVoid(made.bond))
        }
    }

    /// Takes over the bond that the store has with a peer, once no change of it is under way any more. After a failure the host may
    /// have something else: a bond whose removal failed still exists.
    public mutating func bondSettled(of peer: PeerID, stored: Bond?, at now: Instant) {
        switch (peers.bond(with: peer), stored) {
        case (nil, nil): return
        case (let known?, let stored?) where known.hasKeys(of: stored): return
        case (_, let stored?):
            restore(stored, at: now)
            signingCounters.forget(peers.lastingName(of: stored.peer))
            encryptLinks(with: stored.peer, at: now)
        case (let known?, nil): removeBond(with: known.peer, at: now)
        }
    }

    /// A link that began while its peer was a stranger is not encrypted, and is not believed before it is.
    private mutating func encryptLinks(with peer: PeerID, at now: Instant) {
        let peer = peers.lastingName(of: peer)
        for slot in links.slots where links.at[slot.index].isInUse && links.at[slot.index].lastingPeer == peer {
            let isIdle = links.at[slot.index].life.isOpen && !isSecurityPending(on: links.at[slot.index].identifier)
            if isIdle, links.at[slot.index].protection.strength == nil { encryptWithBond(slot, at: now) }
        }
    }

    /// Takes a bond back, unless it has been removed, or replaced by a later pairing.
    private mutating func revert(_ made: MadeBond, at now: Instant) {
        guard let known = keptBond(made) else { return }
        guard let former = made.former else {
            removeBond(with: known.peer, at: now)
            return
        }
        restore(former, at: now)
        signingCounters.forget(known.peer)
    }

    /// A bond as it is now; nil if it has been removed or replaced since it was made.
    private func keptBond(_ made: MadeBond) -> Bond? {
        peers.bond(with: made.bond.peer).flatMap { $0.hasKeys(of: made.bond) ? $0 : nil }
    }
}

extension Bond {
    /// Whether both were made by the same pairing.
    package func hasKeys(of other: Bond) -> Bool {
        centralKey == other.centralKey && peripheralKey == other.peripheralKey && identity == other.identity
    }
}
