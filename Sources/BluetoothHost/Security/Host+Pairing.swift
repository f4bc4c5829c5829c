import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP
import BluetoothSMP

/// The Security Manager of each link: the PDUs of its channel, the application's calls, and their effects.
extension Host {
    // MARK: Calls

    /// Pairs with the peer of a link (Core 5.4, Vol 3, Part H). A central sends Pairing Request, a peripheral sends
    /// Security Request. `HostEvent.Security.paired` or `.pairingFailed` will follow.
    ///
    /// Existing keys are never replaced by weaker ones. To allow that, remove the bond first.
    public mutating func pair(
        _ link: LinkIdentifier, _ parameters: PairingParameters, at now: Instant
    ) throws(HostError) {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        try beginPairing(slot, parameters, protectsBond: true, at: now)
    }

    /// - Parameter protectsBond: whether new keys must not weaken a bond. False for the Security Request of a
    ///   peripheral whose central should use the key of the bond.
    mutating func beginPairing(
        _ slot: LinkSlot, _ parameters: PairingParameters, protectsBond: Bool, at now: Instant
    ) throws(HostError) {
        guard var resources = security else { throw .unsupported(.pairing) }
        guard links.at[slot.index].protection.canPair else { throw .busy }
        // The result of the previous pairing is handled first. The new pairing must not weaken its keys.
        confirmPairing(slot, at: now)
        let protected = protectsBond ? protectingBond(parameters, slot) : parameters
        let effects = links.at[slot.index].protection.begin(protected, &resources, at: now)
        security = resources
        perform(effects, slot, at: now)
    }

    /// Generates this host's out-of-band data for LE Secure Connections (Vol 3, Part H, 2.3.5.6.4). The next pairing
    /// with a peer that has the data uses it up. Data generated earlier becomes void.
    public mutating func makeOutOfBandData() throws(HostError) -> OutOfBandData {
        guard var resources = security, let data = resources.makeOutOfBandData() else { throw .unsupported(.pairing) }
        security = resources
        return data
    }

    /// Answers `HostEvent.Security.asked`.
    public mutating func answerPairing(
        _ link: LinkIdentifier, _ answer: PairingAnswer, at now: Instant
    ) throws(HostError) {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        guard var resources = security else { throw .unsupported(.pairing) }
        var answer = answer
        if case .accept(let parameters) = answer { answer = .accept(protectingBond(parameters, slot)) }
        let effects = links.at[slot.index].protection.answer(answer, &resources, at: now)
        security = resources
        perform(effects, slot, at: now)
    }

    /// Sends the peer a notification of the user's passkey entry.
    public mutating func pressKey(_ key: KeypressNotification, on link: LinkIdentifier, at now: Instant) {
        guard let slot = links.slot(of: link) else { return }
        perform(links.at[slot.index].protection.pressKey(key, at: now), slot, at: now)
    }

    /// Cancels a pairing. `HostEvent.Security.pairingFailed` follows.
    public mutating func cancelPairing(_ link: LinkIdentifier, at now: Instant) {
        guard let slot = links.slot(of: link) else { return }
        perform(links.at[slot.index].protection.cancelPairing(), slot, at: now)
    }

    /// Adds requirements to the parameters, so that a new pairing does not weaken a bond's protection, nor give the
    /// bond to a device that merely uses the peer's address.
    private func protectingBond(_ parameters: PairingParameters, _ slot: LinkSlot) -> PairingParameters {
        guard let bond = bond(of: slot) else { return parameters }
        var parameters = parameters
        parameters.minimumStrength = bond.strength
        parameters.provesExistingKeys = !isBondUnproven(slot)
        return parameters
    }

    /// Whether the peer of a link has a bond, but has not proved that it has the keys. If the bond has no key for this
    /// role, encryption cannot prove it. The peer is not trusted in that case either.
    private func isBondUnproven(_ slot: LinkSlot) -> Bool {
        links.at[slot.index].protection.strength == nil && bond(of: slot) != nil
    }

    /// Whether the bond with the peer of a link has a key for the role of this host.
    package func hasBondKey(_ link: LinkIdentifier) -> Bool {
        guard let slot = links.slot(of: link), let bond = bond(of: slot) else { return false }
        return (links.at[slot.index].role == .central ? bond.centralKey : bond.peripheralKey) != nil
    }

    /// Answers `HostEvent.Security.requested` by refusing to pair (Vol 3, Part H, 2.4.6).
    public mutating func refuseSecurityRequest(of link: LinkIdentifier) {
        guard let slot = links.slot(of: link), !links.at[slot.index].protection.isPairing else { return }
        send(.pairingFailed(.pairingNotSupported), slot)
    }

    /// Whether a pairing that started now would be delayed after earlier failures.
    package func isPairingDelayed(on link: LinkIdentifier, at now: Instant) -> Bool {
        guard let slot = links.slot(of: link), let security else { return false }
        return links.at[slot.index].protection.isPairingDelayed(security, at: now)
    }

    /// Whether a pairing is in progress on a link, or encryption is starting.
    public func isSecurityPending(on link: LinkIdentifier) -> Bool {
        links.slot(of: link).map { links.at[$0.index].protection.isPending } ?? false
    }

    /// The strength of the keys in the bond with the peer of a link; nil if there is no bond.
    public func bondStrength(of link: LinkIdentifier) -> KeyStrength? {
        links.slot(of: link).flatMap { bond(of: $0) }?.strength
    }

    /// The strength of the keys with which a link is encrypted; nil if it is not encrypted.
    public func keyStrength(of link: LinkIdentifier) -> KeyStrength? {
        links.slot(of: link).flatMap { links.at[$0.index].protection.strength }
    }

    /// Whether keys of this strength satisfy this host's policy and a request.
    package func isEnough(_ strength: KeyStrength, for request: PairRequest) -> Bool {
        let parameters = PairingParameters(requiresAuthentication: request.requiresAuthentication)
        return security?.policy.requirement(for: parameters).isMet(by: strength) ?? false
    }

    // MARK: Received PDUs

    /// Handles a PDU of the Security Manager Protocol.
    mutating func receiveSecurity(_ payload: Span<UInt8>, _ slot: LinkSlot, at now: Instant) {
        guard payload.count > 0 else { return }
        guard var resources = security else { return refusePairing(payload, slot, at: now) }
        let effects = links.at[slot.index].protection.receive(payload, &resources, at: now)
        security = resources
        perform(effects, slot, at: now)
    }

    /// Refuses PDUs that start a pairing, on a host without security. Other PDUs need no answer (Vol 3, Part H, 3.5.5).
    private mutating func refusePairing(_ payload: Span<UInt8>, _ slot: LinkSlot, at now: Instant) {
        let pairingRequest: UInt8 = 0x01, securityRequest: UInt8 = 0x0B
        guard payload[0] == pairingRequest || payload[0] == securityRequest else { return }
        send(.pairingFailed(.pairingNotSupported), slot)
        handle(.pairingRefused, of: slot, at: now)
    }

    private mutating func send(_ pdu: SecurityManagerPDU, _ slot: LinkSlot) {
        openFrame()
        pdu.encode(into: &outbox.writer)
        closeFrame(slot, .securityManager)
    }

    // MARK: Link events

    mutating func firePairing(_ slot: LinkSlot, at now: Instant) {
        guard let deadline = links.at[slot.index].protection.nextDeadline, deadline <= now else { return }
        perform(links.at[slot.index].protection.firePairing(at: now), slot, at: now)
        perform(links.at[slot.index].protection.conclude(.timePassed(now)), slot, at: now)
    }

    /// Ends the pairing of a link that has ended and is no longer in the table.
    mutating func endPairing(of link: inout Link) {
        for error in link.protection.linkEnded() {
            events.append(.security(link.identifier, .pairingFailed(error)))
        }
    }

    /// Sets the identity address that peers receive, which is known once the controller is up.
    mutating func ownAddressIsKnown(_ address: DeviceAddress) { security?.identity.address = address }

    // MARK: Effects

    mutating func perform(_ effects: [PairingEffect], _ slot: LinkSlot, at now: Instant) {
        let link = links.at[slot.index].identifier
        // If the peer sends the last keys, it already has this host's keys.
        let isLastToSend = effects.contains { if case .send = $0 { true } else { false } }
        for effect in effects {
            switch effect {
            case .send(let pdu): send(pdu, slot)
            case .encrypt(let key): startEncryption(LongTermKey(key: key), .pairing, slot, at: now)
            case .ask(let question):
                // What became of the pairing before this one comes first.
                confirmPairing(slot, at: now)
                events.append(.security(link, .asked(question)))
            case .show(let display):
                confirmPairing(slot, at: now)
                events.append(.security(link, .shown(display)))
            case .securityRequested(let requirements): securityRequested(requirements, slot, at: now)
            // The bond satisfied this host's Security Request.
            case .ended(.failure(.encryptedWithKnownKey)): break
            case .ended(let outcome) where isLastToSend: pairingEnded(outcome, slot, at: now)
            case .ended(let outcome):
                confirmPairing(slot, at: now)
                confirmed(outcome, slot, at: now)
            }
        }
    }

    /// Handles a peripheral's request for encryption. A sufficiently strong bond satisfies it. Whether to pair for more
    /// is the application's decision, once the peer has proved that it has the key of its bond: any device can send a
    /// request with the peer's address.
    mutating func securityRequested(
        _ requirements: AuthenticationRequirements, _ slot: LinkSlot, at now: Instant
    ) {
        // A peer that asks has paired: the keys that were made last may be all it asks for.
        confirmPairing(slot, at: now)
        if isBondUnproven(slot), hasBondKey(links.at[slot.index].identifier) {
            links.at[slot.index].protection.hold(requirements)
            encryptWithBond(slot, at: now)
            return
        }
        // On an encrypted link nothing is gained by encrypting it again.
        if let bond = bond(of: slot), bond.centralKey != nil, bond.strength.satisfies(requirements) { return }
        events.append(.security(links.at[slot.index].identifier, .requested(requirements)))
    }

    /// Handles the end of a pairing. The host reports it only after the peer has received the last keys, or the reason
    /// of a failure: otherwise an application that disconnects immediately would prevent that.
    mutating func pairingEnded(
        _ outcome: Result<PairingResult, PairingError>, _ slot: LinkSlot, at now: Instant
    ) {
        confirmPairing(slot, at: now)
        // The result of the previous pairing, whose bond is being stored, is reported first.
        guard hasDataOnItsWay(slot) || links.at[slot.index].protection.isStoringBond else {
            return confirmed(outcome, slot, at: now)
        }
        let until = now.advanced(by: Self.confirmationTimeout)
        perform(links.at[slot.index].protection.conclude(.ended(outcome, until: until)), slot, at: now)
        pairingsMayWait = true
    }

    /// The time after which the host stops waiting for a controller that does not report completed packets.
    private static let confirmationTimeout = Duration.seconds(5)

    private func hasDataOnItsWay(_ slot: LinkSlot) -> Bool {
        !links.at[slot.index].sendQueue.isEmpty || flow.outstanding(for: links.at[slot.index].handle) > 0
    }

    /// Checks the unconfirmed pairings after the controller has completed packets.
    mutating func confirmPairings(at now: Instant) {
        pairingsMayWait = false
        consequence = .any
        for slot in links.slots where links.at[slot.index].isInUse && links.at[slot.index].protection.isUnconfirmed {
            if hasDataOnItsWay(slot) { pairingsMayWait = true } else { confirmPairing(slot, at: now) }
        }
    }

    private mutating func confirmPairing(_ slot: LinkSlot, at now: Instant) {
        perform(links.at[slot.index].protection.conclude(.confirmed), slot, at: now)
    }

    /// Handles the result of a pairing after the peer has received the last PDU: reports it, or has the bond stored.
    mutating func confirmed(_ outcome: Result<PairingResult, PairingError>, _ slot: LinkSlot, at now: Instant) {
        let link = links.at[slot.index].identifier
        switch outcome {
        case .success(let result):
            let made = result.isBonded ? keep(result, slot, at: now) : nil
            settleSecurity(slot, at: now)
            if let made, configuration.storesBonds {
                let until = now.advanced(by: Self.storingTimeout)
                let effect = links.at[slot.index].protection.conclude(.bondMade(made, result.strength, until: until))
                perform(effect, slot, at: now)
            } else {
                events.append(.security(link, .paired(result.strength, isBonded: made != nil)))
            }
        case .failure(let error):
            if error == .local(.authenticationRequirements), isBondUnproven(slot) {
                handle(.bondUnproven, of: slot, at: now)
            }
            events.append(.security(link, .pairingFailed(error)))
        }
    }
}

extension KeyStrength {
    /// Whether keys of this strength satisfy a Security Request.
    func satisfies(_ requirements: AuthenticationRequirements) -> Bool {
        isAuthenticated || !requirements.contains(.mitmProtection)
    }
}
