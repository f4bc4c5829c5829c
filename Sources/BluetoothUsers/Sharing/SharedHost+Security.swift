import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothSMP

/// Pairing and encryption, for several users: who answers for the person, who waits for protection, and what is repeated
/// once a link is protected.
extension SharedHost {
    /// The user that answers for the person.
    struct PairingAgentRecord: Sendable {
        let user: UserID
        let description: PairingAgentDescription
    }

    // MARK: - Calls

    mutating func setPairingAgent(_ call: UserCall, _ description: PairingAgentDescription?, at now: Instant) {
        if let description {
            // Another user would be asked, and this one's questions answered by nobody.
            if let pairingAgent, pairingAgent.user != call.user { dropPairingAgent(at: now) }
            pairingAgent = PairingAgentRecord(user: call.user, description: description)
        } else if pairingAgent?.user == call.user {
            dropPairingAgent(at: now)
        }
        end(call, .success(.done))
    }

    /// Nobody is there to answer any more: what waits for an answer is called off.
    mutating func dropPairingAgent(at now: Instant) {
        pairingAgent = nil
        for slot in slots where links[slot.index].isInUse && links[slot.index].awaitsAgent {
            links[slot.index].awaitsAgent = false
            host.cancelPairing(links[slot.index].identifier, at: now)
        }
    }

    mutating func pair(_ call: UserCall, _ request: PairRequest, _ slot: LinkSlot, at now: Instant) {
        let link = links[slot.index].identifier
        guard host.hasLink(link) else { return end(call, .failure(.noSuchLink)) }
        let isProtected = host.keyStrength(of: link).map { host.isEnough($0, for: request) } ?? false
        if isProtected, !request.renewsKeys { return end(call, .success(.done)) }
        do throws(HostError) {
            if !host.isSecurityPending(on: link) { try beginProtecting(slot, request, at: now) }
            links[slot.index].awaitingSecurity.append(call)
        } catch {
            end(call, .failure(error))
        }
    }

    /// Encrypts with the key of a bond that gives enough, and otherwise pairs.
    ///
    /// - Parameter isOnDemand: whether the peer has refused an operation. Then nothing waits for a back-off: each of a
    ///   row of refused operations would wait for another one.
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
        // A call to pair is the application's word. Without an agent there is nobody to show anything to.
        let agent = pairingAgent?.description ?? PairingAgentDescription(ioCapability: .noInputNoOutput)
        try host.pair(link, agent.parameters(request), at: now)
    }

    mutating func answerPairing(_ call: UserCall, _ answer: PairingAnswer, _ slot: LinkSlot, at now: Instant) {
        guard pairingAgent?.user == call.user else { return end(call, .failure(.invalidParameters)) }
        links[slot.index].awaitsAgent = false
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
        // It ends once the bond has gone for good.
        bondRequests.appendRemoval(of: bond, for: call)
    }

    /// A change of bonds has been stored, or could not be.
    public mutating func bondWritten(_ change: BondChange, isStored: Bool, at now: Instant) {
        switch change {
        case .kept(let bond):
            host.bondUpdateWritten(bond, isStored: isStored, at: now)
            drain(at: now)
        case .made(let made):
            host.bondWritten(made, isStored: isStored, at: now)
            drain(at: now)
        case .removed(_, let request):
            guard let call = bondRequests.takeCall(of: request) else { return }
            end(call, isStored ? .success(.done) : .failure(.bondNotStored))
        }
    }

    /// All changes of a peer's bond have been written, or could not be: its bond is now what the store has, which comes back
    /// with the next start in any case.
    public mutating func bondSettled(of peer: PeerID, stored: Bond?, at now: Instant) {
        host.bondSettled(of: peer, stored: stored, at: now)
        drain(at: now)
    }

    /// The outcome of changes that are not stored yet stays unknown.
    public mutating func abandonBondChanges() {
        for call in bondRequests.abandon() { end(call, .failure(.bondNotStored)) }
    }

    /// The changes of bonds since the last call, oldest first: the caller stores them.
    public mutating func takeBondChanges() -> [BondChange] { bondRequests.takeChanges() }

    /// Whether there are changes of bonds to store.
    public var hasBondChanges: Bool { mutating get { bondRequests.hasChanges } }

    /// The identity that peers get in pairing; nil on a host that does not pair, or whose controller was never up.
    public mutating func currentIdentity() -> DeviceIdentity? { host.identity }

    /// Restores the identity and the bonds of an earlier run.
    public mutating func setIdentity(_ identity: DeviceIdentity, bonds: [Bond], at now: Instant) {
        host.setResolvingKey(identity.resolvingKey, at: now)
        for bond in bonds { host.restore(bond, at: now) }
    }

    // MARK: - Events

    mutating func route(_ event: HostEvent.Security, of link: LinkIdentifier, at now: Instant) {
        guard let slot = slot(of: link) else { return }
        switch event {
        case .changed(let security):
            tellAll(.securityChanged(link, security))
            // After a pairing there are still keys to exchange.
            if security.isEncrypted, !host.isSecurityPending(on: link) { protectionSettled(slot, nil, at: now) }
            if !host.isSecurityPending(on: link) {
                finishReadiness(slot)
            } else if security.isBonded, !security.isEncrypted, links[slot.index].role == .central {
                // It is being encrypted anew. Until it is, nobody else gets it, as at its beginning.
                _ = links[slot.index].readiness.handle(.protectionLost)
            }
        case .requested(let requirements):
            // Nobody is there to answer for the person: the peer need not wait.
            guard pairingAgent?.description.pairsOnDemand == true else { return host.refuseSecurityRequest(of: link) }
            let request = PairRequest(requiresAuthentication: requirements.contains(.mitmProtection))
            // It fails where a pairing is under way already, which the peer waits for.
            try? beginProtecting(slot, request, at: now)
        case .asked(let question):
            guard let pairingAgent else {
                // It fails only where the link is gone, and the question with it.
                try? host.answerPairing(link, .refuse, at: now)
                return
            }
            links[slot.index].awaitsAgent = true
            tell(.pairingAsked(link, question), to: pairingAgent.user)
        case .shown(let display):
            if let pairingAgent { tell(.pairingShown(link, display), to: pairingAgent.user) }
        case .paired(let strength, let isBonded):
            links[slot.index].awaitsAgent = false
            let serviceChanged = links[slot.index].preparation.serviceChanged
            if isBonded, let name = names[links[slot.index].peer] { host.keepName(name, of: link) }
            if isBonded, serviceChanged != 0 { host.keepServiceChangedHandle(serviceChanged, of: link) }
            tellAll(.pairingEnded(link, .success(PairingOutcome(strength: strength, isBonded: isBonded))))
            protectionSettled(slot, nil, at: now)
            finishReadiness(slot)
        case .pairingFailed(let error):
            links[slot.index].awaitsAgent = false
            tellAll(.pairingEnded(link, .failure(error)))
            protectionSettled(slot, .pairing(error), at: now)
            finishReadiness(slot)
        case .encryptionFailed:
            _ = links[slot.index].readiness.handle(.bondRefused)
            tellAll(.bondRefused(link, links[slot.index].peer))
        }
    }

    /// The link is protected, or will not be: what waited for that goes on, or ends.
    private mutating func protectionSettled(_ slot: LinkSlot, _ error: HostError?, at now: Instant) {
        let calls = links[slot.index].awaitingSecurity
        links[slot.index].awaitingSecurity = []
        for call in calls { end(call, error.map { .failure($0) } ?? .success(.done)) }
        // On a link that has ended nothing is repeated, and nothing refused: its end follows, with its reason.
        guard host.hasLink(links[slot.index].identifier) else { return }
        repeatRefusedChannels(error, slot, at: now)
        for (operation, refusal) in links[slot.index].scheduler.takeWaitingForProtection() {
            if error == nil {
                start(operation, slot, at: now)
            } else {
                failed(operation.purpose, slot, refusal, at: now)
            }
        }
    }

    // MARK: - Operations that were refused

    /// The peer refused an operation. Where more protection may help, and there is somebody to answer for the person, the
    /// operation waits for that and is repeated (Core 5.4, Vol 3, Part C, 10.3.1.2). Each time takes a better protected link,
    /// so there is an end to it. The Database Hash is for everybody to read (Part G, 7.3): nobody is asked to pair for it.
    ///
    /// - Returns: whether it waits.
    mutating func raisesSecurity(
        _ operation: PendingOperation, _ error: HostError, _ slot: LinkSlot, at now: Instant
    )
        -> Bool
    {
        // Whoever answered for the person may have gone since the operation began.
        guard operation.isRepeatable, !operation.isOutdated, operation.purpose != .databaseHash,
            pairingAgent?.description.pairsOnDemand == true,
            case .client(.att(let refusal)) = error,
            links[slot.index].scheduler.hasRoom(for: .protection(error)),
            let security = host.information(of: links[slot.index].identifier)?.security,
            let request = PairRequest(after: refusal.code, on: security)
        else { return false }
        // Without somebody to answer, only a bond helps.
        guard pairingAgent != nil || host.bondStrength(of: links[slot.index].identifier) != nil else { return false }
        if !host.isSecurityPending(on: links[slot.index].identifier) {
            // Without a pairing the peer's refusal is the result.
            guard (try? beginProtecting(slot, request, isOnDemand: true, at: now)) != nil else { return false }
        }
        let waiting = OperationScheduler.Operation(operation: operation.operation, purpose: operation.purpose)
        return links[slot.index].scheduler.hold(waiting, for: .protection(error))
    }
}

/// A change of the bonds of a host, to be stored.
public enum BondChange: Equatable, Sendable {
    case kept(Bond)
    /// By a pairing, which waits until it is stored.
    case made(MadeBond)
    /// By a call that waits until that is stored; nil where none does.
    case removed(Bond, request: UInt32?)
}

extension PairRequest {
    /// What may turn a refusal into a permission; nil if nothing can.
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
