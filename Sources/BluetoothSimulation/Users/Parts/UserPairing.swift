import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import BluetoothSMP
import BluetoothUsers

/// The pairings on a user's links: those it requests, how they end, and what they protect.
final class UserPairing: UserPart {
    let context: UserContext
    private let agent: UserAgent
    private let subscribers: UserSubscribers
    /// Links on which the user has requested pairing, and those on which it will again as soon as a pairing has ended.
    private var askedOn: Set<LinkIdentifier> = []
    private var pairsAgainOn: Set<LinkIdentifier> = []

    init(_ context: UserContext, agent: UserAgent, subscribers: UserSubscribers) {
        self.context = context
        self.agent = agent
        self.subscribers = subscribers
    }

    /// Whether the user gives its host a reason to start pairing with a station.
    func isWanted(with station: Int) -> Bool {
        agent.pairsOnDemand || links.all.contains { $0.peer == station && askedOn.contains($0.identifier) }
    }

    // MARK: - Turns

    func perform(_ kind: Scenario.Action.Kind, on link: UserLink, _ pick: inout SeededGenerator) {
        switch kind {
        case .pair: pair(link, PairRequest(requiresAuthentication: pick.oneIn(3), renewsKeys: pick.oneIn(3)))
        case .cancelPairing:
            run.pairings.noteCancelled(station, link.peer)
            post(.cancelPairing(link.identifier))
        case .endPairing:
            guard let attempt = run.pairings.current(station, link.peer), attempt.ends[station] == nil else { return }
            leave(link)
        default: return
        }
    }

    func pair(_ link: UserLink, _ request: PairRequest) {
        askedOn.insert(link.identifier)
        run.pairings.noteWish(station, link.peer, at: now)
        post(.pair(link.identifier, request), CallLedger.Call(kind: .pair, link: link.identifier))
    }

    func pairAgain(_ link: UserLink) { pairsAgainOn.insert(link.identifier) }

    /// Pairs with each connected peer with which the station has no bond.
    func pairWithStrangers() {
        for link in links.all where run.bond(station, with: link.peer) == nil { pair(link, PairRequest()) }
    }

    func removeBond(_ pick: inout SeededGenerator) {
        let peer = context.drawPeer(&pick)
        run.pairings.noteRemoving(station, peer, at: now)
        post(.removeBond(PeerID(run.address(of: peer))), CallLedger.Call(kind: .removeBond, bondedPeer: peer))
    }

    private func leave(_ link: UserLink) {
        post(.disconnect(link.identifier, reason: nil), CallLedger.Call(kind: .disconnect, link: link.identifier))
    }

    /// The user has left.
    func removeAll() {
        askedOn = []
        pairsAgainOn = []
    }

    // MARK: - Events

    func linkEnded(_ link: LinkIdentifier) {
        askedOn.remove(link)
        pairsAgainOn.remove(link)
    }

    func ended(_ identifier: LinkIdentifier, _ result: Result<PairingOutcome, PairingError>) {
        guard let link = links[identifier] else {
            return fail(.agent, "a pairing ended on \(identifier), which does not exist")
        }
        let peer = link.peer
        agent.pairingEnded(identifier)
        guard !run.isDamaged(station) else { return }
        let attempt =
            if case .success = result { run.pairings.concluded(station, peer, at: now) } else {
                run.pairings.current(station, peer)
            }
        let isFirst = attempt?.noteEnd(result, of: station, at: now) ?? false
        switch result {
        case .success(let outcome): succeeded(outcome, attempt, link)
        case .failure(let error):
            if !fits(error, attempt, link) { fail(.fittingReason, "pairing ended with “\(error)”") }
            guard isFirst, let attempt, station == attempt.peripheral, case .success(let outcome)? = attempt.ends[peer]
            else { return }
            // The peer stored its bond before this station did.
            if run.scenario.slowStorage == true {
                switch error {
                case .bondNotStored, .disconnected: return
                default: break
                }
            }
            let isHealthy =
                !run.hasFaults(station) && !run.hasFaults(peer) && !attempt.cancelled.contains(station)
            if outcome.isBonded, isHealthy {
                fail(.bond, "pairing ended with “\(error)”, although station \(peer) reported success")
            }
        }
    }

    private func succeeded(_ outcome: PairingOutcome, _ attempt: PairingModel.Attempt?, _ link: UserLink) {
        let peer = link.peer
        if !run.isEncrypted(station, peer) { fail(.protection, "pairing succeeded, but the link is not encrypted") }
        if let attempt {
            run.checkStrength(outcome.strength, attempt, station)
        } else {
            fail(.bond, "a pairing ended without having begun")
        }
        if outcome.isBonded {
            if let bond = run.bond(station, with: peer), bond.strength == outcome.strength {
                run.pairings.noteReported(station, peer, bond)
                subscribers.keepOfPairing(link)
                run.checkAgreement(station, peer)
            } else if !run.isTainted(peer), !run.pairings.isForgotten(station, peer, since: now) {
                // A broken peer may have claimed another identity, and a removal that was requested in the meantime may
                // be done.
                fail(.bond, "a bond was reported, but the host does not have it")
            }
        }
        if pairsAgainOn.remove(link.identifier) != nil { pair(link, PairRequest(renewsKeys: true)) }
        if agent.leavesAtOnce { leave(link) }
    }

    /// Whether a pairing can have ended with an error.
    func fits(_ error: PairingError, _ attempt: PairingModel.Attempt?, _ link: UserLink) -> Bool {
        let peer = link.peer
        guard !run.isDamaged(station), !run.isTainted(peer), let attempt else { return true }
        // If the reason of a refusal is delayed, the previous pairing is reported when this one begins.
        let isTroubled =
            attempt.isTroubled || run.pairings.wasTroubled(station, peer) || run.pairings.isCancelling(station)
            || run.pairings.isCancelling(peer)
        switch error {
        case .local(let reason), .peer(let reason):
            switch reason {
            case .confirmValueFailed, .passkeyEntryFailed, .numericComparisonFailed: return isTroubled
            // A PDU was lost, or the pairing was cancelled.
            case .unspecifiedReason, .dhKeyCheckFailed, .invalidParameters, .commandNotSupported:
                return isTroubled || run.hasFaults(station) || run.hasFaults(peer)
            default: return true
            }
        // A central need not respond to a Security Request.
        case .timedOut:
            return isTroubled || link.information.role == .peripheral || context.mayTimeOut(link.identifier)
        case .cancelled: return run.pairings.isCancelling(station)
        case .encryptionFailed: return isTroubled || context.mayTimeOut(link.identifier)
        case .encryptedWithKnownKey: return false
        case .disconnected: return true
        case .bondNotStored: return run.scenario.slowStorage == true
        }
    }

    // MARK: - Protection

    /// Checks a change of a link's security.
    func check(_ security: LinkSecurity, of peer: Int) {
        guard !run.isDamaged(station) else { return }
        if security.isEncrypted, !run.isEncrypted(station, peer) {
            fail(.protection, "a link was reported as encrypted, but its controller did not encrypt it")
        }
        if security.isAuthenticated, !run.pairings.isAuthenticated(station, peer) {
            fail(.authentication, "a link was reported as authenticated, but its users did not authenticate it")
        }
    }

    func bondRefused(_ identifier: LinkIdentifier) {
        guard let link = links[identifier] else {
            return fail(.linkEvents, "a bond was refused on \(identifier), which does not exist")
        }
        let peer = link.peer
        let isHealthy = [station, peer].allSatisfy { !run.isDamaged($0) && !run.hasFaults($0) }
        // A host removes a bond immediately, and its store some time later.
        let areBonded =
            run.areSurelyBonded(station, peer) && !run.hasForgottenBond(station, peer, since: link.beginning)
        guard isHealthy, areBonded || run.pairings.haveAgreed(station, peer) else { return }
        fail(.bond, "a bond was refused, although both ends have the key or reported its pairing")
    }

    /// Checks that a link to a bonded peer is encrypted before a user gets it.
    func checkProtection(_ link: UserLink) {
        guard run.hasSecurity, link.information.role == .central, !run.isDamaged(station),
            let bond = run.bond(station, with: link.peer), bond.centralKey != nil,
            // The bond may result from another link, whose end this host has not noticed.
            run.isOlder(bondWith: link.peer, than: link, station),
            // A host removes a bond immediately, and its store some time later.
            !run.isStoring(station),
            !run.pairings.isForgotten(station, link.peer, since: link.beginning)
        else { return }
        if !link.information.security.isEncrypted {
            fail(.protection, "connect returned an unencrypted link to a bonded peer")
        }
    }

    /// Checks that `pair` succeeds on encrypted links only.
    func checkPaired(_ call: CallLedger.Call) {
        guard let link = call.link.flatMap({ links[$0] }) else { return }
        if !link.information.security.isEncrypted, !run.isDamaged(station) {
            fail(.protection, "pair succeeded, but the link is not encrypted")
        }
    }
}
