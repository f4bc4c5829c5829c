import BluetoothATT
import BluetoothBase
import BluetoothGATT
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
        for slot in links.indices where links[slot].isInUse && links[slot].awaitsAgent {
            links[slot].awaitsAgent = false
            host.cancelPairing(links[slot].identifier, at: now)
        }
    }

    mutating func pair(_ call: UserCall, _ request: PairRequest, _ slot: Int, at now: Instant) {
        let link = links[slot].identifier
        guard let information = host.information(of: link) else { return end(call, .failure(.noSuchLink)) }
        let isProtected =
            information.security.isEncrypted
            && (information.security.isAuthenticated || !request.requiresAuthentication)
        if isProtected, !request.renewsKeys { return end(call, .success(.done)) }
        do throws(HostError) {
            if !host.isSecurityPending(on: link) { try beginProtecting(slot, request, at: now) }
            links[slot].awaitingSecurity.append(call)
        } catch {
            end(call, .failure(error))
        }
    }

    /// Encrypts with the key of a bond that gives enough, and otherwise pairs.
    mutating func beginProtecting(_ slot: Int, _ request: PairRequest, at now: Instant) throws(HostError) {
        let link = links[slot].identifier
        if !request.renewsKeys, let strength = host.bondStrength(of: link),
            strength.isAuthenticated || !request.requiresAuthentication,
            host.information(of: link)?.security.isEncrypted == false
        {
            return try host.encrypt(link, at: now)
        }
        // A call to pair is the application's word. Without an agent there is nobody to show anything to.
        let agent = pairingAgent?.description ?? PairingAgentDescription(ioCapability: .noInputNoOutput)
        try host.pair(link, agent.parameters(request), at: now)
    }

    mutating func answerPairing(_ call: UserCall, _ answer: PairingAnswer, _ slot: Int, at now: Instant) {
        guard pairingAgent?.user == call.user else { return end(call, .failure(.invalidParameters)) }
        links[slot].awaitsAgent = false
        do throws(HostError) {
            try host.answerPairing(links[slot].identifier, answer, at: now)
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
        bondChanges.append(.removed(bond))
        end(call, .success(.done))
    }

    /// The changes of bonds since the last call, oldest first: the caller stores them.
    public mutating func takeBondChanges() -> [BondChange] {
        defer { bondChanges.removeAll() }
        return bondChanges
    }

    /// Whether there are changes of bonds to store.
    public var hasBondChanges: Bool { mutating get { !bondChanges.isEmpty } }

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
            } else if security.isBonded, !security.isEncrypted, links[slot].role == .central {
                // It is being encrypted anew. Until it is, nobody else gets it, as at its beginning.
                links[slot].isReady = false
            }
        case .requested(let requirements):
            // Nobody is there to answer for the person: the peer need not wait.
            guard pairingAgent?.description.pairsOnDemand == true else { return host.refuseSecurityRequest(of: link) }
            let request = PairRequest(requiresAuthentication: requirements.contains(.mitmProtection))
            try? beginProtecting(slot, request, at: now)
        case .asked(let question):
            guard let pairingAgent else {
                try? host.answerPairing(link, .refuse, at: now)
                return
            }
            links[slot].awaitsAgent = true
            tell(.pairingAsked(link, question), to: pairingAgent.user)
        case .shown(let display):
            if let pairingAgent { tell(.pairingShown(link, display), to: pairingAgent.user) }
        case .paired(let strength, let isBonded):
            links[slot].awaitsAgent = false
            let serviceChanged = links[slot].preparation.serviceChanged
            if isBonded, serviceChanged != 0 { host.keepServiceChangedHandle(serviceChanged, of: link) }
            tellAll(.pairingEnded(link, .success(PairingOutcome(strength: strength, isBonded: isBonded))))
            protectionSettled(slot, nil, at: now)
            finishReadiness(slot)
        case .pairingFailed(let error):
            links[slot].awaitsAgent = false
            tellAll(.pairingEnded(link, .failure(error)))
            protectionSettled(slot, .pairing(error), at: now)
            finishReadiness(slot)
        case .encryptionFailed:
            links[slot].isBondRefused = true
            tellAll(.bondRefused(link, links[slot].peer))
        }
    }

    /// The link is protected, or will not be: what waited for that goes on, or ends.
    private mutating func protectionSettled(_ slot: Int, _ error: HostError?, at now: Instant) {
        let calls = links[slot].awaitingSecurity
        links[slot].awaitingSecurity = []
        for call in calls { end(call, error.map { .failure($0) } ?? .success(.done)) }
        // On a link that has ended nothing is repeated, and nothing refused: its end follows, with its reason.
        guard host.information(of: links[slot].identifier) != nil else { return }
        repeatRefusedChannels(error, slot, at: now)
        let refused = links[slot].refusedOperations
        links[slot].refusedOperations = []
        for operation in refused {
            if error == nil {
                start(operation.operation, for: operation.purpose, slot, at: now)
            } else {
                failed(operation.purpose, slot, operation.error, at: now)
            }
        }
    }

    // MARK: - Operations that were refused

    /// The peer refused an operation. Where more protection may help, and there is somebody to answer for the person, the
    /// operation waits for that and is repeated (Core 5.4, Vol 3, Part C, 10.3.1.2). Each time takes a better protected link,
    /// so there is an end to it. The Database Hash is for everybody to read (Part G, 7.3): nobody is asked to pair for it.
    ///
    /// - Returns: whether it waits.
    mutating func raisesSecurity(_ operation: PendingOperation, _ error: HostError, _ slot: Int, at now: Instant)
        -> Bool
    {
        // Whoever answered for the person may have gone since the operation began.
        guard operation.isRepeatable, !operation.isOutdated, operation.purpose != .databaseHash,
            pairingAgent?.description.pairsOnDemand == true,
            case .client(.att(let refusal)) = error,
            links[slot].refusedOperations.count < Self.refusedOperationLimit,
            let security = host.information(of: links[slot].identifier)?.security,
            let request = PairRequest(after: refusal.code, on: security)
        else { return false }
        let waiting = RefusedOperation(operation: operation.operation, purpose: operation.purpose, error: error)
        // Without somebody to answer, only a bond helps.
        guard pairingAgent != nil || host.bondStrength(of: links[slot].identifier) != nil else { return false }
        if !host.isSecurityPending(on: links[slot].identifier) {
            guard (try? beginProtecting(slot, request, at: now)) != nil else { return false }
        }
        links[slot].refusedOperations.append(waiting)
        return true
    }

    /// How many refused operations wait on one link.
    static let refusedOperationLimit = 4096
}

/// A change of the bonds of a host, to be stored.
public enum BondChange: Equatable, Sendable {
    case kept(Bond)
    case removed(Bond)
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
