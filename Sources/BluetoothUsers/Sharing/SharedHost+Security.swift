import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothL2CAP
import BluetoothSMP

/// Pairing and encryption for several users: which user is the pairing agent, which calls wait for a link to be
/// secured, and which operations are repeated after that.
extension SharedHost {
    /// The pairing agent: the user that answers pairing questions for the person.
    struct PairingAgentRecord: Sendable {
        let user: UserID
        let description: PairingAgentDescription
    }

    // MARK: - Calls

    mutating func setPairingAgent(_ call: UserCall, _ description: PairingAgentDescription?, at now: Instant) {
        if let description {
            // Otherwise, only the new agent would be asked, and the pending questions of the previous one would remain
            // unanswered.
            if let pairingAgent, pairingAgent.user != call.user { dropPairingAgent(at: now) }
            pairingAgent = PairingAgentRecord(user: call.user, description: description)
        } else if pairingAgent?.user == call.user {
            dropPairingAgent(at: now)
        }
        end(call, .success(.done))
    }

    /// Removes the pairing agent, and cancels the pairings that wait for its answer.
    mutating func dropPairingAgent(at now: Instant) {
        pairingAgent = nil
        for slot in slots where links[slot.index].isInUse {
            perform(links[slot.index].security.handle(.agentLeft), slot, at: now)
        }
    }

    mutating func pair(_ call: UserCall, _ request: PairRequest, _ slot: LinkSlot, at now: Instant) {
        let link = links[slot.index].identifier
        guard host.hasLink(link) else { return end(call, .failure(.noSuchLink)) }
        let isProtected = host.keyStrength(of: link).map { host.isEnough($0, for: request) } ?? false
        if isProtected, !request.renewsKeys { return end(call, .success(.done)) }
        guard links[slot.index].security.hasRoomForCall else { return end(call, .failure(.busy)) }
        do throws(HostError) {
            if !host.isSecurityPending(on: link) { try beginProtecting(slot, request, at: now) }
            perform(links[slot.index].security.handle(.requested(call)), slot, at: now)
        } catch {
            end(call, .failure(error))
        }
    }

    /// Encrypts the link with a bond's key if that meets the request. Otherwise, pairs.
    ///
    /// - Parameter isOnDemand: whether the peer has refused an operation. The call then fails during a pairing backoff
    ///   instead of waiting for its end, because each of several refused operations would wait for another one.
    mutating func beginProtecting(
        _ slot: LinkSlot, _ request: PairRequest, isOnDemand: Bool = false, at now: Instant
    ) throws(HostError) {
        let link = links[slot.index].identifier
        if !request.renewsKeys, let strength = host.bondStrength(of: link),
            host.isEnough(strength, for: request), host.keyStrength(of: link) == nil, host.hasBondKey(link)
        {
            return try host.encrypt(link, at: now)
        }
        if isOnDemand, host.isPairingDelayed(on: link, at: now) { throw .busy }
        // Pairing was requested by the application itself. Without an agent, nothing can be shown to a person.
        let agent = pairingAgent?.description ?? PairingAgentDescription(ioCapability: .noInputNoOutput)
        try host.pair(link, agent.parameters(request), at: now)
    }

    mutating func answerPairing(_ call: UserCall, _ answer: PairingAnswer, _ slot: LinkSlot, at now: Instant) {
        guard pairingAgent?.user == call.user else { return end(call, .failure(.invalidParameters)) }
        perform(links[slot.index].security.handle(.answered), slot, at: now)
        do throws(HostError) {
            try host.answerPairing(links[slot.index].identifier, answer, at: now)
            end(call, .success(.done))
        } catch {
            end(call, .failure(error))
        }
    }

    mutating func makeOutOfBandData(_ call: UserCall) {
        do throws(HostError) {
            end(call, .success(.outOfBandData(try host.makeOutOfBandData())))
        } catch {
            end(call, .failure(error))
        }
    }

    mutating func removeBond(_ call: UserCall, with peer: PeerID, at now: Instant) {
        guard let bond = host.removeBond(with: peer, at: now) else { return end(call, .failure(.notBonded)) }
        guard host.configuration.storesBonds else {
            bondRequests.append(.removed(bond, request: nil))
            return end(call, .success(.done))
        }
        // The call ends once the removal is stored.
        bondRequests.appendRemoval(of: bond, for: call)
    }

    /// Handles the end of the write of a bond change.
    ///
    /// - Parameter failure: why the change was not stored; nil if it was.
    public mutating func bondWritten(_ change: BondChange, failure: BondStoreError?, at now: Instant) {
        work = .any
        switch change {
        case .kept(let bond):
            host.bondUpdateWritten(bond, isStored: failure == nil, at: now)
            drain(at: now)
        case .made(let made):
            host.bondWritten(made, failure: failure, at: now)
            drain(at: now)
        case .removed(_, let request):
            guard let call = bondRequests.takeCall(of: request) else { return }
            end(call, failure.map { .failure(.bondNotStored($0)) } ?? .success(.done))
        }
    }

    /// Sets the bond of a peer to the one in the store, after all pending changes of that bond have ended. That is the
    /// bond that would be loaded at the next start anyway.
    public mutating func bondSettled(of peer: PeerID, stored: Bond?, at now: Instant) {
        work = .any
        host.bondSettled(of: peer, stored: stored, at: now)
        drain(at: now)
    }

    /// Ends the calls that wait for a bond change to be stored. The outcome of these changes is unknown.
    public mutating func abandonBondChanges() {
        work = .any
        for call in bondRequests.abandon() { end(call, .failure(.bondNotStored(nil))) }
    }

    /// Returns the bond changes since the last call, oldest first. The caller must store them.
    public mutating func takeBondChanges() -> [BondChange] { bondRequests.takeChanges() }

    /// Whether there are bond changes to store.
    public var hasBondChanges: Bool { mutating get { bondRequests.hasChanges } }

    /// The identity that this device distributes when pairing; nil if the host does not pair, or if its controller was
    /// never ready.
    public mutating func currentIdentity() -> DeviceIdentity? { host.identity }

    /// Restores the identity and bonds of an earlier run.
    public mutating func setIdentity(_ identity: DeviceIdentity, bonds: [Bond], at now: Instant) {
        work = .any
        host.setResolvingKey(identity.resolvingKey, at: now)
        for bond in bonds { host.restore(bond, at: now) }
    }

    // MARK: - Events

    mutating func route(_ event: HostEvent.Security, of link: LinkIdentifier, at now: Instant) {
        guard let slot = slot(of: link) else { return }
        switch event {
        case .changed(let security):
            tellAll(.securityChanged(link, security))
            // During pairing, keys must still be exchanged after the link is encrypted.
            if security.isEncrypted, !host.isSecurityPending(on: link) { protectionSettled(slot, nil, at: now) }
            if !host.isSecurityPending(on: link) {
                finishReadiness(slot)
            } else if security.isBonded, !security.isEncrypted, links[slot.index].role == .central {
                // The link is being encrypted again. Until it is, no other user gets it, as when it was established.
                _ = links[slot.index].readiness.handle(.protectionLost)
            }
        case .requested(let requirements):
            // Without a pairing agent, refuse immediately, so that the peer does not have to wait.
            guard pairingAgent?.description.pairsOnDemand == true else { return host.refuseSecurityRequest(of: link) }
            let request = PairRequest(requiresAuthentication: requirements.contains(.mitmProtection))
            // This fails if a pairing is already in progress, which the peer is waiting for.
            try? beginProtecting(slot, request, at: now)
        case .asked(let question):
            guard let pairingAgent else {
                // This fails only if the link is gone, and the question with it.
                try? host.answerPairing(link, .refuse, at: now)
                return
            }
            perform(links[slot.index].security.handle(.asked), slot, at: now)
            tell(.pairingAsked(link, question), to: pairingAgent.user)
        case .shown(let display):
            if let pairingAgent { tell(.pairingShown(link, display), to: pairingAgent.user) }
        case .paired(let strength, let isBonded):
            if isBonded, let name = names[links[slot.index].peer] { host.keepName(name, of: link) }
            tellAll(.pairingEnded(link, .success(PairingOutcome(strength: strength, isBonded: isBonded))))
            protectionSettled(slot, nil, at: now)
            finishReadiness(slot)
        case .pairingFailed(let error):
            tellAll(.pairingEnded(link, .failure(error)))
            protectionSettled(slot, .pairing(error), at: now)
            finishReadiness(slot)
        case .encryptionFailed:
            _ = links[slot.index].readiness.handle(.bondRefused)
            tellAll(.bondRefused(link, links[slot.index].peer))
        }
    }

    /// Ends the calls, and repeats or ends the operations and channels, that waited for the link to be secured.
    private mutating func protectionSettled(_ slot: LinkSlot, _ error: HostError?, at now: Instant) {
        // If the link has ended, nothing is repeated or refused here. The end of the link follows, with its reason.
        let isOpen = host.hasLink(links[slot.index].identifier)
        perform(links[slot.index].security.handle(.settled(error, isLinkOpen: isOpen)), slot, at: now)
        guard isOpen else { return }
        for (operation, refusal) in links[slot.index].scheduler.takeWaitingForProtection() {
            if error == nil {
                start(operation, slot, at: now)
            } else {
                failed(operation.purpose, slot, refusal, at: now)
            }
        }
    }

    mutating func perform(_ effects: [SecurityGate.Effect], _ slot: LinkSlot, at now: Instant) {
        for effect in effects {
            switch effect {
            case .end(let call, let error): end(call, error.map { .failure($0) } ?? .success(.done))
            case .reopen(let request): open(request, slot, at: now)
            case .cancelPairing: host.cancelPairing(links[slot.index].identifier, at: now)
            }
        }
    }

    // MARK: - Refusals

    /// Handles the peer's refusal of an operation. If more security may help, the operation waits for it and is
    /// repeated (Core 5.4, Vol 3, Part C, 10.3.1.2). Each repetition requires a link with more security than before, so
    /// the repetitions end. The Database Hash is readable without security (Part G, 7.3), so a refusal of it never
    /// causes pairing.
    ///
    /// - Returns: whether the operation waits.
    mutating func waitsForSecurity(
        _ operation: PendingOperation, _ error: HostError, _ slot: LinkSlot, at now: Instant
    ) -> Bool {
        guard operation.isRepeatable, !operation.isOutdated, operation.purpose != .databaseHash,
            case .client(.att(let refusal)) = error,
            links[slot.index].scheduler.hasRoom(for: .protection(error)),
            beginProtecting(slot, after: refusal.code, at: now)
        else { return false }
        let waiting = OperationScheduler.Operation(operation: operation.operation, purpose: operation.purpose)
        return links[slot.index].scheduler.hold(waiting, for: .protection(error))
    }

    /// Handles the peer's refusal of channels, in the same way (10.3.2).
    ///
    /// - Returns: whether the request waits.
    mutating func waitsForSecurity(
        _ request: ChannelRequest, _ failure: ChannelOpeningFailure, _ slot: LinkSlot, at now: Instant
    ) -> Bool {
        guard case .refused(let result) = failure, let code = result.lackOfSecurity,
            links[slot.index].security.hasRoomForChannels, beginProtecting(slot, after: code, at: now)
        else { return false }
        let refused = RefusedChannel(request: request, failure: failure)
        perform(links[slot.index].security.handle(.refused(refused)), slot, at: now)
        return true
    }

    /// Begins to secure a link after a refusal, unless the link is already being secured.
    ///
    /// - Returns: whether the link is being secured. If it is not, the peer's refusal is the result.
    private mutating func beginProtecting(_ slot: LinkSlot, after code: ATTErrorCode, at now: Instant) -> Bool {
        let link = links[slot.index].identifier
        // The pairing agent may have detached since the request was made.
        guard pairingAgent?.description.pairsOnDemand == true,
            let security = host.information(of: link)?.security,
            let request = PairRequest(after: code, on: security)
        else { return false }
        if host.isSecurityPending(on: link) { return true }
        return (try? beginProtecting(slot, request, isOnDemand: true, at: now)) != nil
    }
}

/// A bond change that must be stored.
public enum BondChange: Equatable, Sendable {
    case kept(Bond)
    /// A new bond. Its pairing waits until the bond is stored.
    case made(MadeBond)
    /// A removed bond. `request` identifies the call that waits until the removal is stored; nil if no call does.
    case removed(Bond, request: UInt32?)
}

extension PairRequest {
    /// The pairing that may turn a refusal into permission; nil if none can.
    init?(after code: ATTErrorCode, on security: LinkSecurity) {
        switch code {
        case .insufficientEncryption, .insufficientAuthentication:
            if !security.isEncrypted {
                self.init()
            } else if code == .insufficientAuthentication, !security.isAuthenticated {
                self.init(requiresAuthentication: true, renewsKeys: true)
            } else {
                return nil
            }
        default: return nil
        }
    }
}
