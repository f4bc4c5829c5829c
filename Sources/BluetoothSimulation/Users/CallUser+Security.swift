import BluetoothAdapter
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothSMP

/// Pairing, and who answers for the person.
extension CallUser {
    func wantsPairing(with station: Int) -> Bool {
        if agent?.description.pairsOnDemand == true { return true }
        return links.contains { $0.peer == station && $0.hasAskedToPair }
    }

    // MARK: - Actions

    func beAgent(_ pick: inout SeededGenerator) {
        beAgent(SimulatedAgent(drawnFrom: &pick))
    }

    func beAgent(_ new: SimulatedAgent) {
        noteAgentWish()
        agent = new
        post(.setPairingAgent(new.description), CallLedger.Call(kind: .beAgent))
        // There is one agent: the last.
        for case let other as CallUser in run.users[station] where other !== self { other.loseAgent() }
    }

    func beNoAgent() {
        guard agent != nil else { return }
        loseAgent()
        post(.setPairingAgent(nil), CallLedger.Call(kind: .beNoAgent))
    }

    /// The agent that was there until now.
    func noteAgentWish() {
        guard agent?.description.pairsOnDemand == true else { return }
        run.pairings.noteAgentWish(station, at: run.world.now)
        // What has not begun by then has no reason to begin.
        run.world.schedule(at: run.world.now.advanced(by: .milliseconds(1))) { [self] in
            guard run.runners.indices.contains(station) else { return }
            let occupancy = run.runners[station].occupancy
            if occupancy.pairings == 0, occupancy.waitingFrames == 0 { run.pairings.forgetAgentWish(station) }
        }
    }

    func loseAgent() {
        guard agent != nil else { return }
        noteAgentWish()
        agent = nil
        lostAgencyAt = run.world.now
        questions = [:]
        run.pairings.noteCancelled(station)
    }

    func removeBond(_ pick: inout SeededGenerator) {
        let peer = (station + 1 + pick.below(run.world.stationCount - 1)) % run.world.stationCount
        run.pairings.noteRemoving(station, peer)
        post(.removeBond(PeerID(run.address(of: peer))), CallLedger.Call(kind: .removeBond))
    }

    func performSecurity(_ kind: Scenario.Action.Kind, on index: Int, _ pick: inout SeededGenerator) {
        let link = links[index].identifier
        switch kind {
        case .pair: pair(index, PairRequest(requiresAuthentication: pick.oneIn(3), renewsKeys: pick.oneIn(3)))
        case .cancelPairing:
            run.pairings.noteCancelled(station, links[index].peer)
            post(.cancelPairing(link))
        case .endPairing:
            guard let attempt = run.pairings.current(station, links[index].peer), attempt.ends[station] == nil else {
                return
            }
            post(.disconnect(link, reason: nil), CallLedger.Call(kind: .disconnect, link: link))
        case .useLocked: useLocked(index, &pick)
        default: return
        }
    }

    func pair(_ index: Int, _ request: PairRequest) {
        let link = links[index].identifier
        links[index].hasAskedToPair = true
        run.pairings.noteWish(station, links[index].peer, at: run.world.now)
        post(.pair(link, request), CallLedger.Call(kind: .pair, link: link))
    }

    private func useLocked(_ index: Int, _ pick: inout SeededGenerator) {
        let link = links[index].identifier
        switch pick.below(5) {
        case 0: operate([.read, .readLong, .readByUUID, .readMultiple][pick.below(4)], index, on: .locked, &pick)
        case 1, 2: operate([.write, .writeLong, .writeReliably][pick.below(3)], index, on: .locked, &pick)
        case 3: subscribe(index, to: .locked, pick.oneIn(3) ? .indications : .notifications)
        default:
            guard let handle = run.handle(of: .locked, at: station), links[index].credit > 0,
                links[index].subscriptions[.locked] != nil
            else { return }
            links[index].credit -= 1
            let value = SimulatedValue(.locked, station: station, stream: 0, number: run.nextNumber())
            post(.update(link, handle, value.bytes(count: 20)))
        }
    }

    // MARK: - Questions

    func asked(_ link: LinkIdentifier, _ question: PairingQuestion) {
        guard let index = index(of: link) else { return fail(.agent, "a question about \(link), which is not there") }
        guard let agent else {
            // The host may have asked before it carried out what was posted at the same instant.
            if lostAgencyAt != run.world.now { fail(.agent, "asked, and does not answer for the person") }
            return
        }
        if questions[link] != nil { fail(.agent, "asked again before the last question was answered") }
        questions[link] = question
        links[index].awaitsPairingEnd = true
        let attempt = run.pairings.current(station, links[index].peer)
        if case .consent = question, let attempt, attempt.peripheral != station, !run.isTainted(links[index].peer) {
            fail(.agent, "asked for consent as a central")
        }
        if case .compareNumbers(let number) = question { attempt?.numbers[station] = number }
        if agent.isUnwilling { attempt?.unwilling.insert(station) }
        guard let delay = isCalm ? .zero : agent.delay else { return }
        lastQuestion += 1
        let number = lastQuestion
        questionNumbers[link] = number
        run.world.schedule(at: run.world.now.advanced(by: delay)) { [self] in
            guard isAttached, questionNumbers[link] == number, questions[link] == question else { return }
            answer(link, question, attempt, triesLeft: 8)
        }
    }

    private func answer(
        _ link: LinkIdentifier, _ question: PairingQuestion, _ attempt: PairingModel.Attempt?, triesLeft: Int
    ) {
        guard let agent, let index = index(of: link) else { return }
        let peer = links[index].peer
        let answer: PairingAnswer
        switch question {
        case .consent:
            answer =
                agent.consents
                ? .accept(
                    PairingParameters(
                        ioCapability: agent.description.ioCapability, isBonding: agent.description.isBonding))
                : .refuse
            if agent.consents { attempt?.hasConsent = true } else { attempt?.unwilling.insert(station) }
        case .enterPasskey:
            // The passkey that the peer shows; where both enter one, the persons have agreed on it.
            let shown = attempt?.passkeys[peer]?.sorted().first
            if shown == nil, triesLeft > 0, !isCalm {
                let number = questionNumbers[link]
                run.world.schedule(at: run.world.now.advanced(by: .milliseconds(300))) { [self] in
                    guard isAttached, questionNumbers[link] == number, questions[link] == question else { return }
                    self.answer(link, question, attempt, triesLeft: triesLeft - 1)
                }
                return
            }
            if shown == nil { attempt?.unwilling.insert(station) }
            var passkey = shown ?? UInt32(1_000 * min(station, peer) + max(station, peer))
            if agent.mistypes { passkey = (passkey + 1) % 1_000_000 }
            attempt?.passkeys[station, default: []].insert(passkey)
            if agent.mistypes { attempt?.unwilling.insert(station) }
            answer = .passkey(passkey)
        case .compareNumbers(let number):
            let other = attempt?.numbers[peer]
            let isSame = (other ?? number) == number && !agent.rejectsNumbers
            if isSame { attempt?.agreed.insert(station) } else { attempt?.unwilling.insert(station) }
            answer = isSame ? .accept() : .refuse
        }
        questions[link] = nil
        post(.answerPairing(link, answer), CallLedger.Call(kind: .beAgent, link: link))
    }

    func shown(_ link: LinkIdentifier, _ display: PairingDisplay) {
        guard let index = index(of: link) else { return fail(.agent, "a display for \(link), which is not there") }
        guard agent != nil else {
            if lostAgencyAt != run.world.now { fail(.agent, "shown something, and does not answer for the person") }
            return
        }
        guard case .passkey(let passkey) = display else { return }
        links[index].awaitsPairingEnd = true
        run.pairings.current(station, links[index].peer)?.passkeys[station, default: []].insert(passkey)
    }

    // MARK: - Ends

    func pairingEnded(_ link: LinkIdentifier, _ result: Result<PairingOutcome, PairingError>) {
        guard let index = index(of: link) else { return fail(.agent, "the end of a pairing on \(link)") }
        let peer = links[index].peer
        questions[link] = nil
        questionNumbers[link] = nil
        links[index].awaitsPairingEnd = false
        guard !run.isDamaged(station) else { return }
        let now = run.world.now
        let attempt =
            if case .success = result { run.pairings.concluded(station, peer, at: now) } else {
                run.pairings.current(station, peer)
            }
        let isFirst = attempt?.noteEnd(result, of: station, at: now) ?? false
        switch result {
        case .success(let outcome): succeeded(outcome, attempt, index)
        case .failure(let error):
            if !fits(error, attempt, index) { fail(.fittingReason, "pairing ended with “\(error)”") }
            guard isFirst, let attempt, station == attempt.peripheral, case .success(let outcome)? = attempt.ends[peer]
            else { return }
            let isHealthy =
                !run.hasFaults(station) && !run.hasFaults(peer) && !attempt.cancelled.contains(station)
            if outcome.isBonded, isHealthy {
                fail(.bond, "pairing ended with “\(error)”, and station \(peer) has reported success")
            }
        }
    }

    private func succeeded(_ outcome: PairingOutcome, _ attempt: PairingModel.Attempt?, _ index: Int) {
        let peer = links[index].peer
        if !run.isEncrypted(station, peer) { fail(.protection, "paired over a link that is not encrypted") }
        if let attempt {
            run.checkStrength(outcome.strength, attempt, station)
        } else {
            fail(.bond, "a pairing that never began")
        }
        if outcome.isBonded {
            if let bond = run.bond(station, with: peer), bond.strength == outcome.strength {
                run.pairings.noteReported(station, peer, bond)
            } else if !run.isTainted(peer) {
                // A broken peer may have claimed another identity.
                fail(.bond, "a bond was reported and is not kept")
            }
        }
        if links[index].pairsAgain {
            links[index].pairsAgain = false
            pair(index, PairRequest(renewsKeys: true))
        }
        if agent?.leavesAtOnce == true {
            let link = links[index].identifier
            post(.disconnect(link, reason: nil), CallLedger.Call(kind: .disconnect, link: link))
        }
    }

    /// Whether an error can be what became of a pairing.
    func fits(_ error: PairingError, _ attempt: PairingModel.Attempt?, _ index: Int) -> Bool {
        let peer = links[index].peer
        guard !run.isDamaged(station), !run.isTainted(peer), let attempt else { return true }
        // Where the reason of a refusal is long on its way, the pairing before is reported as this one begins.
        let isTroubled =
            attempt.isTroubled || run.pairings.wasTroubled(station, peer) || run.pairings.isCancelling(station)
            || run.pairings.isCancelling(peer)
        switch error {
        case .local(let reason), .peer(let reason):
            switch reason {
            case .confirmValueFailed, .passkeyEntryFailed, .numericComparisonFailed: return isTroubled
            // Something was lost, or called off.
            case .unspecifiedReason, .dhKeyCheckFailed, .invalidParameters, .commandNotSupported:
                return isTroubled || run.hasFaults(station) || run.hasFaults(peer)
            default: return true
            }
        // A central need not answer a Security Request.
        case .timedOut:
            return isTroubled || links[index].information.role == .peripheral || mayTimeOut(links[index].identifier)
        case .cancelled: return run.pairings.isCancelling(station)
        case .encryptionFailed: return isTroubled || mayTimeOut(links[index].identifier)
        case .encryptedWithKnownKey: return false
        case .disconnected: return true
        }
    }

    // MARK: - Protection

    func securityChanged(_ link: LinkIdentifier, _ security: LinkSecurity) {
        guard let index = index(of: link) else { return fail(.linkEvents, "security of \(link), which is not there") }
        links[index].information.security = security
        let peer = links[index].peer
        // Values were dropped while the peer could have been anybody.
        if run.hasSecurity { links[index].received.noteLoss() }
        guard !run.isDamaged(station) else { return }
        if security.isEncrypted, !run.isEncrypted(station, peer) {
            fail(.protection, "a link is called encrypted, and the controller has not said so")
        }
        if security.isAuthenticated, !run.pairings.isAuthenticated(station, peer) {
            fail(.authentication, "a link is called authenticated, which no two persons have made it")
        }
    }

    func bondRefused(_ link: LinkIdentifier) {
        guard let index = index(of: link) else { return fail(.linkEvents, "a bond on \(link), which is not there") }
        let peer = links[index].peer
        let isHealthy = [station, peer].allSatisfy { !run.isDamaged($0) && !run.hasFaults($0) }
        if isHealthy, run.areBonded(station, peer) { fail(.bond, "a bond was refused, and both have the key") }
    }

    /// A user has got a link: the peer of a bond is encrypted first.
    func checkProtection(_ index: Int) {
        guard run.hasSecurity, links[index].information.role == .central, !run.isDamaged(station),
            let bond = run.bond(station, with: links[index].peer), bond.centralKey != nil,
            // It may have been made over another link, the end of which this host has not noticed.
            run.isOlder(bondWith: links[index].peer, than: links[index], station)
        else { return }
        if !links[index].information.security.isEncrypted {
            fail(.protection, "connect gave a link to a bonded peer that is not encrypted")
        }
    }
}
