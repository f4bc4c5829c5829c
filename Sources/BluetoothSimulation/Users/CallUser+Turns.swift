import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothUsers

/// The actions of the user. Each action of the scenario is performed by the part that it concerns.
extension CallUser {
    func perform(_ action: Scenario.Action) {
        var pick = SeededGenerator(seed: action.pick)
        guard isAttached else {
            if action.kind == .join { join() }
            return
        }
        switch action.kind {
        case .advertise, .stopAdvertising, .advertiseSet, .stopSet: parts.advertising.perform(action.kind, &pick)
        case .scan: parts.scanning.scan(&pick)
        case .stopScanning: context.callOffFirst { $0.kind == .scan }
        case .connect: parts.attempts.connect(&pick)
        case .advertiseTrain, .changeTrain, .stopTrain, .synchronize, .endSync, .tellOfTrain, .acceptTrains,
            .advertiseSubevents, .connectInSubevent:
            parts.trains.perform(action.kind, &pick)
        case .cancel:
            if let token = pick.element(of: context.calls.tokens { $0.kind != .dawdle }) { cancel(token) }
        case .publish: parts.services.publishAnother()
        case .withdraw: parts.services.withdrawPassing()
        case .leave:
            // The publisher leaves less often, because most of a world depends on its service.
            if !isPublisher || pick.oneIn(4) { leave() }
        case .join, .subscribeSlowly: return
        case .beAgent: parts.agent.become(SimulatedAgent(drawnFrom: &pick))
        case .beNoAgent: parts.agent.resign()
        case .removeBond: parts.pairing.removeBond(&pick)
        case .dawdle: parts.requests.dawdle(&pick)
        case .useFormerLink: parts.linkCalls.useFormerLink(&pick)
        case .step: if let step = action.step { perform(step, &pick) }
        case .release, .disconnect, .discover, .read, .readLong, .readByUUID, .readMultiple, .write, .writeLong,
            .writeReliably, .writeCommands, .subscribe, .unsubscribe, .notify, .indicate, .update, .card, .readRSSI,
            .updateParameters, .hold, .resume, .pair, .useLocked, .cancelPairing, .endPairing, .configure, .dribble,
            .burst, .openChannel, .sendOverChannel, .closeChannel, .reconfigureChannel, .pauseChannel, .resumeChannel:
            guard !links.isEmpty else { return }
            perform(action.kind, on: links[pick.below(links.count)], &pick)
        }
    }

    private func perform(_ kind: Scenario.Action.Kind, on link: UserLink, _ pick: inout SeededGenerator) {
        let identifier = link.identifier
        switch kind {
        case .release: release(identifier)
        case .disconnect: parts.linkCalls.disconnect(link)
        case .discover: parts.discovery.discoverAll(link, includes: pick.oneIn(2))
        case .read, .readLong, .readByUUID, .readMultiple, .write, .writeLong, .writeReliably:
            guard let chosen = pick.element(of: SimulatedService.Characteristic.allCases) else { return }
            parts.operations.operate(kind, link, on: chosen, &pick)
        case .writeCommands:
            parts.sending.send(.command, count: 1 + pick.below(24), to: identifier)
            if pick.oneIn(3) { parts.sending.sendForbiddenCommand(to: link, &pick) }
        case .subscribe:
            let characteristic: SimulatedService.Characteristic =
                [.stream, .stream, .card, .card, .locked, .stored][pick.below(6)]
            parts.values.subscribe(link, to: characteristic, pick.oneIn(3) ? .indications : .notifications)
        case .unsubscribe: parts.values.unsubscribe(identifier, &pick)
        case .notify: parts.sending.send(.notification, count: 1 + pick.below(24), to: identifier)
        case .update: parts.sending.send(.update, count: 1 + pick.below(24), to: identifier)
        case .indicate: for _ in 0...pick.below(4) { parts.sending.indicate(to: link) }
        case .card: parts.sending.beginCard(to: link, &pick)
        case .readRSSI: parts.linkCalls.readRSSI(link)
        case .updateParameters: parts.linkCalls.updateParameters(link, &pick)
        case .hold: parts.linkCalls.pause(link)
        case .resume: parts.linkCalls.resume(link)
        case .pair, .cancelPairing, .endPairing: parts.pairing.perform(kind, on: link, &pick)
        case .useLocked: useLocked(link, &pick)
        case .openChannel, .sendOverChannel, .closeChannel, .reconfigureChannel, .pauseChannel, .resumeChannel:
            parts.channels.perform(kind, on: link, &pick)
        case .configure: parts.operations.configure(link, &pick)
        case .dribble: parts.sending.dribble(to: link)
        case .burst: parts.sending.burst(to: link)
        case .useFormerLink, .subscribeSlowly, .advertise, .stopAdvertising, .scan, .stopScanning, .connect, .cancel,
            .publish, .withdraw, .leave, .join, .dawdle, .beAgent, .beNoAgent, .removeBond, .step, .advertiseSet,
            .stopSet, .advertiseTrain, .changeTrain, .stopTrain, .synchronize, .endSync, .tellOfTrain, .acceptTrains,
            .advertiseSubevents, .connectInSubevent:
            return
        }
    }

    private func cancel(_ token: CallToken) {
        if let call = context.calls.open[token] ?? context.calls.standing[token] {
            parts.channels.noteCalledOff(call)
            parts.values.noteCalledOff(call)
            if call.kind == .indicate, let link = call.link { parts.sending.breakStream(of: link) }
        }
        context.callOff(token)
    }

    private func release(_ link: LinkIdentifier) {
        context.links.release(link)
        context.noteCancelled { $0.kind == .subscribe && $0.link == link }
        context.noteCancelled { $0.kind == .connect }
        parts.values.releaseAll(link)
        context.post(.release(link))
    }

    private func useLocked(_ link: UserLink, _ pick: inout SeededGenerator) {
        switch pick.below(5) {
        case 0:
            let kind: Scenario.Action.Kind = [.read, .readLong, .readByUUID, .readMultiple][pick.below(4)]
            parts.operations.operate(kind, link, on: .locked, &pick)
        case 1, 2:
            let kind: Scenario.Action.Kind = [.write, .writeLong, .writeReliably][pick.below(3)]
            parts.operations.operate(kind, link, on: .locked, &pick)
        case 3: parts.values.subscribe(link, to: .locked, pick.oneIn(3) ? .indications : .notifications)
        default: parts.sending.sendLocked(to: link.identifier)
        }
    }

    // MARK: - Steps of episodes

    private func perform(_ step: Scenario.Action.Step, _ pick: inout SeededGenerator) {
        switch step {
        case .advertiseOften: parts.advertising.advertise(every: .milliseconds(100))
        case .visit: parts.attempts.visit()
        case .discoverAtOnce: parts.discovery.discoverOnNextLink()
        case .answerLate: parts.requests.answerLate()
        case .leaveNow: leave()
        case .disconnectAll: for link in links { parts.linkCalls.disconnect(link) }
        case .beWillingAgent: parts.agent.become(.willing(pairsOnDemand: true))
        case .beAgentOnCall: parts.agent.become(.willing(pairsOnDemand: false))
        case .survey: parts.discovery.survey()
        case .changeOnNextLink: parts.services.changeOnNextLink(&pick)
        case .listen: parts.scanning.listen()
        case .meet: parts.attempts.meet(&pick)
        case .pairWithStrangers: parts.pairing.pairWithStrangers()
        case .subscribeToStream, .subscribeForIndications, .subscribeToCard, .useDynamic, .readMuch,
            .indicateMany, .readLocked, .pairNow, .pairForAuthentication, .pairAgain, .renewKeys, .planUse:
            guard !links.isEmpty else { return }
            perform(step, on: links[pick.below(links.count)], &pick)
        }
    }

    private func perform(_ step: Scenario.Action.Step, on link: UserLink, _ pick: inout SeededGenerator) {
        switch step {
        case .subscribeToStream: parts.values.subscribe(link, to: .stream, .notifications)
        case .subscribeForIndications: parts.values.subscribe(link, to: .stream, .indications)
        case .subscribeToCard: parts.values.subscribe(link, to: .card, .notifications)
        case .useDynamic: parts.operations.operate(pick.oneIn(2) ? .read : .write, link, on: .dynamic, &pick)
        case .readMuch: parts.operations.operate(.read, link, on: pick.oneIn(2) ? .constant : .dynamic, &pick)
        case .indicateMany: parts.sending.indicateMany(to: link)
        case .readLocked: parts.operations.operate(.read, link, on: .locked, &pick)
        case .pairNow: parts.pairing.pair(link, PairRequest())
        case .pairForAuthentication: parts.pairing.pair(link, PairRequest(requiresAuthentication: true))
        case .pairAgain: parts.pairing.pairAgain(link)
        case .renewKeys: parts.pairing.pair(link, PairRequest(renewsKeys: true))
        case .planUse: parts.discovery.planUse(of: link, &pick)
        case .advertiseOften, .visit, .discoverAtOnce, .answerLate, .leaveNow, .disconnectAll, .beWillingAgent,
            .beAgentOnCall, .survey, .changeOnNextLink, .listen, .meet, .pairWithStrangers:
            return
        }
    }

    // MARK: - The end

    func calm() {
        guard isAttached else { return }
        context.comeToRest()
        parts.requests.checkWaiting()
        parts.agent.refuseAll()
        for token in context.calls.tokens(where: { $0.kind == .connect }) {
            guard let call = context.calls.open[token] else { continue }
            parts.ends.checkDeadline(call)
            if !parts.attempts.mayGoOn(call) || call.isCancelled { cancel(token) }
        }
        parts.scanning.calm()
        parts.trains.calm()
        for link in links { parts.linkCalls.resume(link) }
        parts.channels.calm()
        parts.requests.answerAll()
    }

    func checkQuiet() {
        guard isAttached else { return }
        let calls = context.calls
        let open = calls.tokens { !parts.attempts.mayGoOn($0) || $0.isCancelled }.filter { calls.open[$0] != nil }
        guard open.isEmpty else {
            let kinds = open.compactMap { calls.open[$0]?.kind.rawValue }
            return context.fail(.endsOnce, "calls that never ended: \(kinds.joined(separator: ", "))")
        }
        if context.status != .ready {
            context.fail(.wanted, "the adapter is still \(context.status) long after the last fault")
        }
        parts.channels.checkQuiet()
        parts.trains.checkQuiet()
        parts.sending.checkQuiet()
    }
}
