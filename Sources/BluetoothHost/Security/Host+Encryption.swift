import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothSMP

/// Encryption of links, and the keys for it.
extension Host {
    // MARK: Calls

    /// Encrypts a link with the key of the peer's bond. A central starts encryption. A peripheral sends a Security
    /// Request to the central. `HostEvent.Security.changed` or `.encryptionFailed` will follow.
    public mutating func encrypt(_ link: LinkIdentifier, at now: Instant) throws(HostError) {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        guard let bond = bond(of: slot) else { throw .notBonded }
        switch links.at[slot.index].role {
        case .central:
            guard bond.centralKey != nil else { throw .notBonded }
            guard encryptWithBond(slot, at: now) else { throw .busy }
        case .peripheral:
            // Requests no more security than the key of the bond provides, so that the central uses that key. If the
            // central sends a Pairing Request instead, the answer protects the bond.
            let parameters = PairingParameters(requiresAuthentication: bond.strength.isAuthenticated)
            try beginPairing(slot, parameters, protectsBond: false, at: now)
        }
    }

    /// Starts encryption with the key of the peer's bond. Returns false if there is no key, or if encryption is already
    /// starting.
    @discardableResult
    mutating func encryptWithBond(_ slot: LinkSlot, at now: Instant) -> Bool {
        guard let bond = bond(of: slot), let key = bond.centralKey else { return false }
        return startEncryption(key, .bond(bond.strength), slot, at: now)
    }

    /// As the central, gives the controller a key and starts encryption.
    @discardableResult
    mutating func startEncryption(
        _ key: LongTermKey, _ origin: LinkEncryption.Key, _ slot: LinkSlot, at now: Instant
    ) -> Bool {
        guard links.at[slot.index].role == .central, links.at[slot.index].protection.start(with: origin) else {
            return false
        }
        let command = LEEnableEncryption(
            connectionHandle: links.at[slot.index].handle, randomNumber: key.random,
            encryptedDiversifier: key.encryptedDiversifier, longTermKey: key.key)
        send(command, for: .encrypt(links.at[slot.index].identifier), at: now)
        return true
    }

    // MARK: Controller events

    /// Handles the Command Status of LE Enable Encryption.
    mutating func encryptionAnswered(_ status: HCIStatus, _ link: LinkIdentifier, at now: Instant) {
        guard status != .success, let slot = links.slot(of: link) else { return }
        encryptionFailed(status, slot, at: now)
    }

    /// Handles the central's request for encryption. EDIV and Rand select the key of the pairing in progress or the key
    /// of the bond.
    mutating func longTermKeyRequested(_ request: LELongTermKeyRequest, at now: Instant) {
        guard let slot = links.slot(of: request.connectionHandle), links.at[slot.index].role == .peripheral,
            let (key, origin) = key(for: request, slot), links.at[slot.index].protection.start(with: origin)
        else {
            send(
                LELongTermKeyRequestNegativeReply(connectionHandle: request.connectionHandle), for: .none, at: now)
            if let slot = links.slot(of: request.connectionHandle) { discardAddress(of: slot, at: now) }
            return
        }
        send(
            LELongTermKeyRequestReply(connectionHandle: request.connectionHandle, longTermKey: key), for: .none,
            at: now)
    }

    private func key(for request: LELongTermKeyRequest, _ slot: LinkSlot) -> (UInt128, LinkEncryption.Key)? {
        let diversifier = request.encryptedDiversifier, random = request.randomNumber
        if let key = links.at[slot.index].protection.pairingKey(encryptedDiversifier: diversifier, random: random) {
            return (key, .pairing)
        }
        guard let bond = bond(of: slot), let key = bond.peripheralKey, key.encryptedDiversifier == diversifier,
            key.random == random
        else { return nil }
        return (key.key, .bond(bond.strength))
    }

    /// Handles Encryption Change, of either version, or Encryption Key Refresh Complete.
    mutating func encryptionChanged(
        _ status: HCIStatus, isEncrypted: Bool, of connection: ConnectionHandle, at now: Instant
    ) {
        guard let slot = links.slot(of: connection) else { return }
        guard status == .success else { return encryptionFailed(status, slot, at: now) }
        guard isEncrypted else {
            links.at[slot.index].protection.decrypted()
            return settleSecurity(slot, at: now)
        }
        perform(links.at[slot.index].protection.encrypted(), slot, at: now)
    }

    private mutating func perform(_ effect: LinkEncryption.Effect?, _ slot: LinkSlot, at now: Instant) {
        switch effect {
        case .reportUnexpected: handle(.encryptionUnexpected, of: slot, at: now)
        case .continueWithBond:
            settleSecurity(slot, at: now)
            // This may be the result of this host's Security Request, but it is not the encryption that a pairing waits
            // for.
            if !links.at[slot.index].protection.expectsPairingKey {
                continuePairing(.success, isEncrypted: true, slot, at: now)
            }
            if let requirements = links.at[slot.index].protection.takeHeldRequest() {
                securityRequested(requirements, slot, at: now)
            }
        case .continuePairing:
            settleSecurity(slot, at: now)
            continuePairing(.success, isEncrypted: true, slot, at: now)
        case .replaceKey:
            // The key of the bond has the same value as before. A central encrypts with it again, as on each new link
            // (Vol 3, Part C, 10.3.1.1).
            settleSecurity(slot, at: now)
            encryptWithBond(slot, at: now)
            handle(.encryptionUnexpected, of: slot, at: now)
        // The host handles these effects where it gives the controller a key, and where a key fails.
        case nil, .sendKey, .reportFailure: return
        }
    }

    private mutating func encryptionFailed(_ status: HCIStatus, _ slot: LinkSlot, at now: Instant) {
        let key = links.at[slot.index].protection.keyFailed()
        if key != nil { discardAddress(of: slot, at: now) }
        switch key {
        case nil: return
        case .pairing: continuePairing(status, isEncrypted: false, slot, at: now)
        case .bond:
            events.append(.security(links.at[slot.index].identifier, .encryptionFailed(status)))
            // The peer has lost the key, or is a different device. Only the application may remove the bond, never an
            // event on the air.
            close(slot, .encryptionFailed(status), at: now)
        }
    }

    private mutating func continuePairing(
        _ status: HCIStatus, isEncrypted: Bool, _ slot: LinkSlot, at now: Instant
    ) {
        guard var resources = security else { return }
        let effects = links.at[slot.index].protection.continuePairing(
            status: status.rawValue, isEncrypted: isEncrypted, &resources, at: now)
        security = resources
        perform(effects, slot, at: now)
    }

    // MARK: Results

    /// Updates the security on which the GATT server bases its decisions.
    mutating func settleSecurity(_ slot: LinkSlot, at now: Instant) {
        let bond = bond(of: slot)
        let old = links.at[slot.index].endpoint.security
        let new = links.at[slot.index].protection.settle(isBonded: bond != nil, isAuthorized: old.isAuthorized)
        guard new != old else { return }
        links.at[slot.index].endpoint.security = new
        if let bond, new.isEncrypted, !old.isEncrypted { restoreSubscriptions(of: bond, slot, at: now) }
        if new.isEncrypted != old.isEncrypted {
            negotiateBearers(new.isEncrypted ? .encrypted : .decrypted, slot, at: now)
        }
        guard links.at[slot.index].life.isAnnounced else { return }
        events.append(.security(links.at[slot.index].identifier, .changed(new)))
    }
}
