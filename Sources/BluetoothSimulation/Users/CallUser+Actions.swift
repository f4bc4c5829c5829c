import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHost

/// What a user does when it is its time.
extension CallUser {
    func perform(_ action: Scenario.Action) {
        var pick = SeededGenerator(seed: action.pick)
        guard isAttached else {
            if action.kind == .join { join() }
            return
        }
        switch action.kind {
        case .advertise: advertise(&pick)
        case .stopAdvertising: cancelFirst { $0.kind == .advertise }
        case .scan: scan(&pick)
        case .stopScanning: cancelFirst { $0.kind == .scan }
        case .connect: connect(&pick)
        case .advertiseSet, .stopSet: performSet(action.kind, &pick)
        case .advertiseTrain, .changeTrain, .stopTrain, .synchronize, .endSync, .tellOfTrain, .acceptTrains:
            performPeriodic(action.kind, &pick)
        case .advertiseSubevents, .connectInSubevent: performSubevents(action.kind, &pick)
        case .cancel:
            if let token = pick.element(of: calls.tokens { $0.kind != .dawdle }) { cancel(token) }
        case .publish: if passing.count < 3 { publishPassing() }
        case .withdraw:
            guard let service = passing.popLast() else { return }
            post(.withdraw(service.declaration), CallLedger.Call(kind: .withdraw))
        case .leave:
            // The publisher stays more often, for its service is what most of a world is about.
            if !isPublisher || pick.oneIn(4) { leave() }
        case .join, .subscribeSlowly: return
        case .beAgent: beAgent(&pick)
        case .beNoAgent: beNoAgent()
        case .removeBond: removeBond(&pick)
        case .dawdle: answerDelay = [nil, .zero, .milliseconds(5), .milliseconds(800), .seconds(5)][pick.below(5)]
        case .useFormerLink: useFormerLink(&pick)
        case .step: if let step = action.step { perform(step, &pick) }
        case .release, .disconnect, .discover, .read, .readLong, .readByUUID, .readMultiple, .write, .writeLong,
            .writeReliably, .writeCommands, .subscribe, .unsubscribe, .notify, .indicate, .update, .card, .readRSSI,
            .updateParameters, .hold, .resume, .pair, .useLocked, .cancelPairing, .endPairing, .configure, .dribble,
            .burst, .openChannel, .sendOverChannel, .closeChannel, .reconfigureChannel, .pauseChannel, .resumeChannel:
            guard !links.isEmpty else { return }
            perform(action.kind, on: pick.below(links.count), &pick)
        }
    }

    private func perform(_ kind: Scenario.Action.Kind, on index: Int, _ pick: inout SeededGenerator) {
        let link = links[index].identifier
        switch kind {
        case .release: release(index)
        case .disconnect:
            run.disconnects.insert(.init(station: station, peer: links[index].peer))
            post(.disconnect(link, reason: nil), CallLedger.Call(kind: .disconnect, link: link))
        case .discover:
            let peer = links[index].peer
            perform(
                .discoverAll(includes: pick.oneIn(2)), kind, link, ExpectedEnd(peer: peer, epoch: run.epochs[peer]))
        case .read, .readLong, .readByUUID, .readMultiple, .write, .writeLong, .writeReliably:
            guard let chosen = pick.element(of: SimulatedService.Characteristic.allCases) else { return }
            operate(kind, index, on: chosen, &pick)
        case .writeCommands:
            send(.command, count: 1 + pick.below(24), on: index)
            if pick.oneIn(3) { sendForbiddenCommand(index, &pick) }
        case .subscribe:
            // Whoever waits for a link, and gives that up, gives up what it does there.
            let characteristic: SimulatedService.Characteristic =
                [.stream, .stream, .card, .card, .locked, .stored][pick.below(6)]
            subscribe(index, to: characteristic, pick.oneIn(3) ? .indications : .notifications)
        case .unsubscribe: unsubscribe(index, &pick)
        case .notify: send(.notification, count: 1 + pick.below(24), on: index)
        case .update: send(.update, count: 1 + pick.below(24), on: index)
        case .indicate: for _ in 0...pick.below(4) { indicate(index) }
        case .card:
            guard links[index].subscriptions[.card] != nil, links[index].cardToSend == nil, !links[index].isDribbling
            else { return }
            let card = SimulatedCard.bytes(run.nextNumber() & 0xFFFF, count: 4 + pick.below(600))
            let chunk = pick.oneIn(2) ? 20 : links[index].information.mtu - 3
            links[index].cardToSend = ChunkedMessageSender(card, chunkSize: chunk)
            sendBacklog(link)
        case .readRSSI: post(.readRSSI(link), CallLedger.Call(kind: kind, link: link))
        case .updateParameters: updateParameters(link, &pick)
        case .hold:
            links[index].isHolding = true
            run.hasHeld.insert(station)
            post(.holdReceiving(link))
        case .resume: resume(index)
        case .pair, .useLocked, .cancelPairing, .endPairing: performSecurity(kind, on: index, &pick)
        case .openChannel, .sendOverChannel, .closeChannel, .reconfigureChannel, .pauseChannel, .resumeChannel:
            performChannel(kind, on: index, &pick)
        case .configure: configure(index, &pick)
        case .dribble: dribble(index)
        case .burst:
            guard links[index].information.mtu >= 185 else { return }
            links[index].backlog.append(UserLink.Outgoing(way: .notification, count: 4_600, isFull: true))
            sendBacklog(link)
        case .useFormerLink, .subscribeSlowly, .advertise, .stopAdvertising, .scan, .stopScanning, .connect, .cancel,
            .publish, .withdraw, .leave, .join, .dawdle, .beAgent, .beNoAgent, .removeBond, .step, .advertiseSet,
            .stopSet, .advertiseTrain, .changeTrain, .stopTrain, .synchronize, .endSync, .tellOfTrain, .acceptTrains,
            .advertiseSubevents, .connectInSubevent:
            return
        }
    }

    // MARK: - The adapter

    private func advertise(_ pick: inout SeededGenerator) {
        let name: String? = pick.oneIn(2) ? "device \(station)" : nil
        advertise(every: .milliseconds(100 + 200 * pick.below(5)), as: name)
    }

    func advertise(every interval: Duration, as name: String? = nil) {
        for token in calls.tokens(where: { $0.kind == .advertise }) { cancel(token) }
        var advertisement = AdvertisementData()
        advertisement.flags = [.generalDiscoverable, .brEDRNotSupported]
        advertisement.serviceUUIDs = [SimulatedService.uuid]
        if let name { advertisement.localName = .complete(name) }
        post(
            .advertise(
                AdvertisingRequest(
                    advertisement, interval: interval...(interval + .milliseconds(50)), cutsToFit: true)),
            CallLedger.Call(kind: .advertise))
    }

    private func scan(_ pick: inout SeededGenerator) {
        guard calls.tokens(where: { $0.kind == .scan }).count < 4 else { return }
        let filter = pick.oneIn(2) ? ScanFilter() : ScanFilter(services: [SimulatedService.uuid])
        let parameters = ScanParameters(isActive: pick.oneIn(2), reportsDuplicates: pick.oneIn(4))
        let token = runner.makeToken()
        calls.stand(
            CallLedger.Call(kind: .scan, isStanding: true, isForService: !filter.services.isEmpty), token)
        post(.scan(filter, parameters), token: token)
    }

    private func connect(_ pick: inout SeededGenerator) {
        let peer = (station + 1 + pick.below(run.world.stationCount - 1)) % run.world.stationCount
        let timeout: Duration? = pick.oneIn(3) ? .milliseconds(200 + pick.below(8_000)) : nil
        let delay: Duration = pick.oneIn(6) ? .milliseconds(pick.below(2_000)) : .zero
        post(
            .connect(PeerID(run.address(of: peer)), ConnectRequest(timeout: timeout, delay: delay)),
            CallLedger.Call(
                kind: .connect, hasTimeout: timeout != nil,
                deadline: timeout.map { run.world.now.advanced(by: delay + $0) }))
    }

    func cancel(_ token: CallToken) {
        if let call = calls.open[token] ?? calls.standing[token] {
            noteCalledOff(call)
            if call.kind == .indicate, let link = call.link { breakStream(of: link) }
        }
        calls.cancel(token)
        post(.cancel, token: token)
    }

    func cancelFirst(where isMeant: (CallLedger.Call) -> Bool) {
        guard let token = calls.tokens(where: isMeant).first else { return }
        cancel(token)
    }

    // MARK: - Links

    private func release(_ index: Int) {
        let link = links[index].identifier
        links[index].isHeld = false
        links[index].isHolding = false
        calls.cancelAll { $0.kind == .subscribe && $0.link == link }
        calls.cancelAll { $0.kind == .connect }
        forgetValues(of: .stream, link)
        forgetValues(of: .card, link)
        post(.release(link))
    }

    private func resume(_ index: Int) {
        guard links[index].isHolding else { return }
        links[index].isHolding = false
        post(.resumeReceiving(links[index].identifier))
    }

    private func updateParameters(_ link: LinkIdentifier, _ pick: inout SeededGenerator) {
        let interval = UInt16(6 + pick.below(30))
        let parameters = ConnectionParameters(
            intervalMin: interval, intervalMax: interval + 8, latency: UInt16(pick.below(2)), timeout: 400)
        post(.updateParameters(link, parameters), CallLedger.Call(kind: .updateParameters, link: link))
    }

    // MARK: - The client

    private func perform(
        _ operation: GATTClientOperation, _ kind: Scenario.Action.Kind, _ link: LinkIdentifier,
        _ expectation: ExpectedEnd? = nil, _ stored: [ScenarioRun.StoredUse] = []
    ) {
        post(
            .perform(link, operation),
            CallLedger.Call(kind: kind, link: link, expectation: expectation, stored: stored))
    }

    /// The handle of a characteristic: as found, and often simply as it is at the peer.
    private func handle(_ characteristic: SimulatedService.Characteristic, _ index: Int) -> AttributeHandle? {
        links[index].handles[characteristic]?.lowerBound ?? run.handle(of: characteristic, at: links[index].peer)
    }

    func operate(
        _ kind: Scenario.Action.Kind, _ index: Int, on chosen: SimulatedService.Characteristic,
        _ pick: inout SeededGenerator
    ) {
        let all = SimulatedService.Characteristic.allCases
        let link = links[index].identifier
        guard let handle = handle(chosen, index),
            let other = pick.element(of: all), let second = self.handle(other, index)
        else { return }
        let length = [10, 20, 20, 100, 300, 512][pick.below(6)]
        let value = SimulatedValue(chosen, station: station, stream: 0, number: run.nextNumber()).bytes(count: length)
        let operation: GATTClientOperation
        switch kind {
        case .read: operation = .read(handle)
        case .readLong: operation = .readLong(handle, offset: pick.oneIn(4) ? 5 : 0)
        case .readByUUID: operation = .readByUUID(SimulatedService.uuid(of: chosen))
        case .readMultiple:
            let handles = [handle, second, handle]
            operation = pick.oneIn(2) ? .readMultiple(handles) : .readMultipleVariable(handles)
        case .write: operation = .write(handle, value)
        case .writeLong: operation = .writeLong(handle, value)
        default:
            operation = .writeReliably([
                AttributeValue(handle: handle, value: value), AttributeValue(handle: second, value: [1, 2, 3]),
            ])
        }
        let isPair = kind == .readMultiple || kind == .writeReliably
        let expectation = expectation(operation, of: chosen, and: isPair ? other : nil, index)
        let stored = storedUse(operation, links[index].peer)
        guard kind == .write else { return perform(operation, kind, link, expectation, stored) }
        post(
            .write(link, handle, value),
            CallLedger.Call(kind: kind, link: link, expectation: expectation, stored: stored))
    }

    func subscribe(
        _ index: Int, to characteristic: SimulatedService.Characteristic, _ configuration: GATTClientConfiguration
    ) {
        let link = links[index].identifier
        // Whoever waits for a link, and gives that up, gives up what it does there.
        guard links[index].isHeld || links[index].information.role == .peripheral else { return }
        // One of each and link is enough, and makes plain which values belong to which.
        let isKnown = !calls.tokens { $0.link == link && $0.characteristic == characteristic }.isEmpty
        guard !isKnown, let handle = handle(characteristic, index) else { return }
        let end = links[index].handles[characteristic]?.upperBound ?? AttributeHandle(handle.rawValue + 1)
        forgetValues(of: characteristic, link)
        post(
            .subscribe(
                link,
                SubscriptionRequest(characteristic: handle, end: end, configuration: configuration)),
            CallLedger.Call(kind: .subscribe, link: link, handle: handle, characteristic: characteristic))
    }

    private func unsubscribe(_ index: Int, _ pick: inout SeededGenerator) {
        let link = links[index].identifier
        let tokens = calls.tokens { $0.kind == .subscribe && $0.link == link }
        guard let token = pick.element(of: tokens) else { return }
        if pick.oneIn(2) { return cancel(token) }
        forgetValues(of: (calls.standing[token] ?? calls.open[token])?.characteristic, link)
        calls.cancel(token)
        post(.unsubscribe(link, token), CallLedger.Call(kind: .unsubscribe, link: link))
    }

    /// The values before a subscription say nothing about those of the next one.
    func forgetValues(of characteristic: SimulatedService.Characteristic?, _ link: LinkIdentifier) {
        guard let index = index(of: link) else { return }
        if characteristic == .card {
            links[index].card = ChunkedMessageReceiver()
            links[index].isCardWhole = false
        } else {
            let commands = links[index].sending[.init(characteristic: .commands)]?.identifier
            links[index].received.forget(except: commands)
        }
    }

    /// An indication was called off: the next value does not follow the one before.
    func breakStream(of link: LinkIdentifier) {
        guard let index = index(of: link) else { return }
        let key = UserLink.StreamKey(characteristic: .stream, isIndicated: true)
        if let stream = links[index].sending.removeValue(forKey: key) { run.brokenStreams.insert(stream.identifier) }
    }

    // MARK: - The end

    var wantsScan: Bool { !calls.tokens { $0.kind == .scan }.isEmpty }
    var wantsAdvertising: Bool { !calls.tokens { $0.kind == .advertise }.isEmpty }
    var linkCount: Int { links.count }

    func lastReceived(of stream: UInt32, from station: Int) -> UInt32? {
        links.first { $0.peer == station }?.received.last(of: stream)
    }

    func calm() {
        guard isAttached else { return }
        isCalm = true
        checkRequests()
        for link in questions.keys.sorted(by: { $0.slot < $1.slot }) {
            for attempt in run.pairings.current(at: station) { attempt.unwilling.insert(station) }
            questions[link] = nil
            post(.answerPairing(link, .refuse), CallLedger.Call(kind: .beAgent, link: link))
        }
        for token in calls.tokens(where: { $0.kind == .connect }) {
            guard let call = calls.open[token] else { continue }
            checkDeadline(call)
            if !mayGoOn(call) || call.isCancelled { cancel(token) }
        }
        // Some scans go on, to be found going on at the end. All of them would fill the rest of time with reports.
        for token in calls.tokens(where: { $0.kind == .scan }) where !generator.oneIn(4) { cancel(token) }
        for token in calls.tokens(where: { $0.kind == .synchronize }) { cancel(token) }
        for index in links.indices { resume(index) }
        calmChannels()
        answerDelay = .zero
        for request in requests { post(.accept(request), CallLedger.Call(kind: .dawdle, link: request.link)) }
        requests = []
        requestTimes = [:]
    }

    /// Whether it waits for a connection for as long as it takes.
    var wantsConnection: Bool { calls.hasOpen { mayGoOn($0) && !$0.isCancelled } }

    func checkQuiet() {
        guard isAttached else { return }
        let open = calls.tokens { !mayGoOn($0) || $0.isCancelled }.filter { calls.open[$0] != nil }
        guard open.isEmpty else {
            let kinds = open.compactMap { calls.open[$0]?.kind.rawValue }
            return fail(.endsOnce, "calls that never ended: \(kinds.joined(separator: ", "))")
        }
        if status != .ready { fail(.wanted, "the adapter is \(status) long after the last fault") }
        checkChannelsQuiet()
        checkSyncsQuiet()
        for link in links where link.credit != SharedHost.sendCredit && link.backlog.isEmpty && link.cardToSend == nil {
            fail(.leftovers, "\(link.credit) credits on a link that sends nothing")
        }
    }
}
