import BluetoothAdapter
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHost

/// The steps of episodes.
extension CallUser {
    func perform(_ step: Scenario.Action.Step, _ pick: inout SeededGenerator) {
        switch step {
        case .advertiseOften: advertise(every: .milliseconds(100))
        case .visit:
            visits = 10
            visit()
        case .answerLate: answerDelay = .seconds(3)
        case .leaveNow: leave()
        case .disconnectAll: for link in links { disconnect(link) }
        case .beWillingAgent: beAgent(.willing(pairsOnDemand: true))
        case .beAgentOnCall: beAgent(.willing(pairsOnDemand: false))
        case .subscribeToStream, .subscribeForIndications, .subscribeToCard, .useDynamic, .readMuch,
            .indicateMany, .readLocked, .pairNow, .pairForAuthentication, .pairAgain:
            guard !links.isEmpty else { return }
            perform(step, on: pick.below(links.count), &pick)
        }
    }

    private func perform(_ step: Scenario.Action.Step, on index: Int, _ pick: inout SeededGenerator) {
        switch step {
        case .subscribeToStream: subscribe(index, to: .stream, .notifications)
        case .subscribeForIndications: subscribe(index, to: .stream, .indications)
        case .subscribeToCard: subscribe(index, to: .card, .notifications)
        case .useDynamic: operate(pick.oneIn(2) ? .read : .write, index, on: .dynamic, &pick)
        case .readMuch: operate(.read, index, on: pick.oneIn(2) ? .constant : .dynamic, &pick)
        case .indicateMany: indicateMany(index)
        case .readLocked: operate(.read, index, on: .locked, &pick)
        case .pairNow: pair(index, PairRequest())
        case .pairForAuthentication: pair(index, PairRequest(requiresAuthentication: true))
        case .pairAgain: links[index].pairsAgain = true
        case .advertiseOften, .visit, .answerLate, .leaveNow, .disconnectAll, .beWillingAgent, .beAgentOnCall: return
        }
    }

    private func disconnect(_ link: UserLink) {
        run.disconnects.insert(.init(station: station, peer: link.peer))
        post(
            .disconnect(link.identifier, reason: nil), CallLedger.Call(kind: .disconnect, link: link.identifier))
    }

    // MARK: - Visits

    private func visit() {
        let peer = (station + 1) % run.world.stationCount
        post(.connect(PeerID(run.address(of: peer)), ConnectRequest(timeout: nil)), CallLedger.Call(kind: .connect))
    }

    /// A visitor leaves as soon as it has come.
    func leaveAtOnce(_ link: UserLink) {
        guard visits > 0, link.information.role == .central else { return }
        disconnect(link)
    }

    /// ... and comes again.
    func visitAgain() {
        guard visits > 0, isAttached, status == .ready, !isCalm else { return }
        visits -= 1
        if visits > 0 { visit() }
    }

    // MARK: - Indications

    /// Indicates more than may wait on a link. What is too much is refused.
    private func indicateMany(_ index: Int) {
        let link = links[index].identifier
        guard links[index].subscriptions[.stream]?.contains(.indications) == true else { return }
        for _ in 0..<Self.indicationLimit + 100 { indicate(index) }
        run.world.schedule(at: run.world.now.advanced(by: .milliseconds(1))) { [self] in
            let waiting = openIndications(on: link)
            // A process that is suspended has not refused any yet.
            if waiting > Self.indicationLimit, !run.hasFaults(station) {
                fail(.bounds, "\(waiting) indications wait on a link")
            }
        }
    }

    /// How many indications may wait on a link.
    private static let indicationLimit = 4_096

    private func openIndications(on link: LinkIdentifier) -> Int {
        calls.open.values.count { $0.kind == .indicate && $0.link == link }
    }

    /// Whether so many indications wait on the link of one that it may be refused for that. Some may have ended since.
    func hasManyIndications(_ call: CallLedger.Call) -> Bool {
        call.link.map { openIndications(on: $0) > Self.indicationLimit / 2 } ?? false
    }

    // MARK: - Discovery

    /// What a change of the peer's services has made void is not found as it was: a discovery under way begins anew, or fails.
    func checkFreshness(_ database: DiscoveredDatabase, _ call: CallLedger.Call, _ index: Int) {
        let peer = links[index].peer
        guard let change = links[index].lastChange, change.instant > call.instant, change.epoch == run.epochs[peer],
            !run.incomplete.contains(station), !run.incomplete.contains(peer)
        else { return }
        for characteristic in database.characteristics where change.handles.contains(characteristic.valueHandle) {
            for known in SimulatedService.Characteristic.allCases
            where SimulatedService.uuid(of: known) == characteristic.uuid
                && run.handle(of: known, at: peer) != characteristic.valueHandle
            {
                let place = characteristic.valueHandle
                return fail(.expected, "\(known) was found at \(place), where it was before a change that was told")
            }
        }
    }
}
