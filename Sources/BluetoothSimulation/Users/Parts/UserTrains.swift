import BluetoothAdapter
import BluetoothBase
import BluetoothGAP
import BluetoothHost
import BluetoothUsers

/// A user's synchronization with periodic advertising.
private struct UserSync {
    let identifier: PeriodicSyncIdentifier
    let train: Train
    /// The time of the last report, or of the beginning if there was none.
    var last: Instant
    /// The number of the last data received.
    var number = 0
    /// The number of times the advertiser had interrupted the train when this began.
    let breaks: Int
}

/// Periodic advertising: the trains a user advertises, those it receives, and checks of how they arrive.
final class UserTrains: UserPart {
    let context: UserContext
    /// The current synchronizations.
    private var syncs: [UserSync] = []

    init(_ context: UserContext) { self.context = context }

    /// Few enough for the controllers.
    private static let syncLimit = 2
    /// The times without a packet after which synchronization is lost. They cover several events of the longest
    /// interval, even if two of three are skipped.
    private static let timeouts: [Duration] = [.seconds(4), .seconds(6), .seconds(10)]

    var train: Train { Train(station: station, user: context.number) }

    func perform(_ kind: Scenario.Action.Kind, _ pick: inout SeededGenerator) {
        switch kind {
        case .advertiseTrain: advertiseTrain(&pick)
        case .changeTrain: changeTrain(&pick)
        case .stopTrain:
            breakTrain()
            context.callOffFirst { $0.kind == .advertiseTrain }
        case .synchronize: synchronize(&pick)
        case .endSync:
            guard !syncs.isEmpty else { return }
            post(.sync(syncs.remove(at: pick.below(syncs.count)).identifier, .end))
        case .tellOfTrain: tellOfTrain(&pick)
        case .advertiseSubevents: advertiseSubevents(&pick)
        case .connectInSubevent: connectInSubevent(&pick)
        case .acceptTrains:
            guard let link = pick.element(of: links.all) else { return }
            let parameters: PeriodicSyncParameters? = pick.oneIn(5) ? nil : drawParameters(&pick)
            post(
                .acceptTransfers(link.identifier, parameters),
                CallLedger.Call(kind: .acceptTrains, link: link.identifier))
        default: return
        }
    }

    private func drawParameters(_ pick: inout SeededGenerator) -> PeriodicSyncParameters {
        PeriodicSyncParameters(skip: pick.below(3), timeout: Self.timeouts[pick.below(Self.timeouts.count)])
    }

    // MARK: - Advertising

    /// Notes that synchronized users may lose the train. Called when a change is requested and again when it is made,
    /// because a user that synchronizes in between has found the earlier data.
    func breakTrain() { run.trainBreaks[train, default: 0] += 1 }

    private func parameters(_ pick: inout SeededGenerator, interval: Duration) -> AdvertisingParameters {
        let number = run.trainNumbers[train, default: 0] + 1
        run.trainNumbers[train] = number
        let length = [8, 31, 200, 252, 253, 700, 1650][pick.below(7)]
        var parameters = AdvertisingParameters(
            isConnectable: false, interval: .milliseconds(200)...(.milliseconds(250)),
            data: SetPattern.data(8, number: 0),
            extended: ExtendedAdvertising(sid: train.sid))
        parameters.periodic = PeriodicAdvertising(
            interval: interval...(interval + .milliseconds(20)),
            data: SetPattern.data(length, number: UInt8(truncatingIfNeeded: number)))
        return parameters
    }

    private func advertiseTrain(_ pick: inout SeededGenerator) {
        guard calls.tokens(where: { $0.kind == .advertiseTrain }).isEmpty else { return }
        breakTrain()
        let interval = Duration.milliseconds(100 + 200 * pick.below(3))
        post(.advertiseSet(parameters(&pick, interval: interval)), CallLedger.Call(kind: .advertiseTrain))
    }

    /// Changes the data, and sometimes the interval.
    private func changeTrain(_ pick: inout SeededGenerator) {
        guard let set = calls.tokens(where: { $0.kind == .advertiseTrain && $0.isStanding }).first,
            calls.tokens(where: { $0.kind == .changeTrain }).isEmpty
        else { return }
        // Data that is too long for one command, or a new interval, starts a new train.
        breakTrain()
        let changed = parameters(&pick, interval: .milliseconds(pick.oneIn(4) ? 150 : 100))
        post(.changeSet(set, changed), CallLedger.Call(kind: .changeTrain))
    }

    private func tellOfTrain(_ pick: inout SeededGenerator) {
        guard let link = pick.element(of: links.all)?.identifier else { return }
        let call = CallLedger.Call(kind: .tellOfTrain, link: link)
        if let set = calls.tokens(where: { $0.kind == .advertiseTrain && $0.isStanding }).first, pick.oneIn(2) {
            post(.transfer(link, .set(set), serviceData: 7), call)
        } else if let sync = pick.element(of: syncs) {
            post(.transfer(link, .sync(sync.identifier), serviceData: 7), call)
        }
    }

    // MARK: - Receiving

    private func synchronize(_ pick: inout SeededGenerator) {
        guard syncs.count + calls.tokens(where: { $0.kind == .synchronize }).count < Self.syncLimit else { return }
        let peer = context.drawPeer(&pick)
        let train = Train(station: peer, user: pick.below(run.scenario.devices[peer].users.count))
        let timeout: Duration? = pick.oneIn(2) ? .milliseconds(200 + pick.below(8_000)) : nil
        post(
            .synchronize(
                [PeriodicAdvertiser(peer: PeerID(run.address(of: peer)), sid: train.sid)], drawParameters(&pick),
                timeout: timeout),
            CallLedger.Call(
                kind: .synchronize, hasTimeout: timeout != nil,
                deadline: timeout.map { now.advanced(by: $0) }, train: train))
    }

    func established(
        _ sync: PeriodicSyncIdentifier, _ information: PeriodicSyncInformation, _ call: CallLedger.Call
    ) {
        guard let train = begin(sync, information) else { return }
        if train != call.train { fail(.expected, "\(information) was found, which is not the requested advertising") }
        // A user that cancels the call as it ends also ends the synchronization.
        if call.isCancelled { _ = syncs.popLast() }
    }

    private func begin(_ sync: PeriodicSyncIdentifier, _ information: PeriodicSyncInformation) -> Train? {
        if index(of: sync) != nil { fail(.endsOnce, "a synchronization began twice") }
        guard let peer = run.station(at: information.address) ?? run.anyTaintedStation else {
            fail(.expected, "periodic advertising of \(information.address) was found, but no station has this address")
            return nil
        }
        let train = Train(station: peer, sid: information.sid)
        syncs.append(
            UserSync(
                identifier: sync, train: train, last: now, breaks: run.trainBreaks[train, default: 0]))
        listen(to: sync, information)
        return train
    }

    private func index(of sync: PeriodicSyncIdentifier) -> Int? { syncs.firstIndex { $0.identifier == sync } }

    func take(_ event: UserEvent.Periodic, of sync: PeriodicSyncIdentifier, _ batch: borrowing EventBatch) {
        switch event {
        case .transferred(let link, let serviceData, let information):
            if links[link] == nil {
                fail(.linkEvents, "a synchronization was transferred on \(link), which does not exist")
            }
            if serviceData != 7, run.anyTaintedStation == nil {
                fail(.expected, "a synchronization was transferred with the service data \(serviceData)")
            }
            _ = begin(sync, information)
        case .report(let report):
            // A synchronization that was ended in this batch may have delivered reports before.
            guard let index = index(of: sync) else { return }
            received(batch.octets(of: report.data), report, index)
        case .ended(let reason):
            guard let index = index(of: sync) else { return }
            check(reason, of: syncs.remove(at: index))
        }
    }

    private func received(_ data: Span<UInt8>, _ report: PeriodicReport, _ index: Int) {
        let known = syncs[index]
        syncs[index].last = now
        guard !report.isTruncated, run.anyTaintedStation == nil else { return }
        guard SetPattern.isWhole(data.copied()) else {
            return fail(
                .expected, "\(data.count) octets of periodic advertising were received that no station advertised")
        }
        let number = Int(data[2])
        let newest = run.trainNumbers[known.train, default: 0]
        if newest > 255 { return }
        if number > newest {
            fail(.expected, "data \(number) of periodic advertising was received, but \(newest) is the newest")
        }
        if number < known.number {
            fail(.valueOrder, "data \(number) of periodic advertising was received after \(known.number)")
        }
        syncs[index].number = number
        answer(report, of: known.identifier)
    }

    private func check(_ reason: PeriodicSyncEnd, of sync: UserSync) {
        switch reason {
        case .lost:
            let isBroken = run.trainBreaks[sync.train, default: 0] != sync.breaks
            // In subevents, nothing is sent without data from the advertiser.
            guard !isBroken, !run.hasFaults(station), !run.hasFaults(sync.train.station), !isOut(sync.train),
                !run.trainsWithSubevents.contains(sync.train)
            else { return }
            fail(.fittingReason, "periodic advertising was reported as lost, although its advertiser is in range")
        case .controllerReset, .adapterRemoved:
            if !run.hasFaults(station) { fail(.fittingReason, "periodic advertising ended: \(reason)") }
        }
    }

    /// Whether the train is not being advertised, possibly because its user has left.
    private func isOut(_ train: Train) -> Bool { advertiser(of: train)?.isAdvertisingPeriodically != true }

    private func advertiser(of train: Train) -> UserTrains? {
        guard run.users.indices.contains(train.station), run.users[train.station].indices.contains(train.user) else {
            return nil
        }
        return (run.users[train.station][train.user] as? CallUser)?.parts.trains
    }

    var isAdvertisingPeriodically: Bool {
        isAttached && calls.standing.values.contains { $0.kind == .advertiseTrain }
    }

    /// Whether a call depends on extended or periodic advertising, which the controller may not support according to
    /// its host.
    func isOfSets(_ call: CallLedger.Call) -> Bool {
        [.advertiseSet, .advertiseTrain, .changeTrain, .synchronize, .tellOfTrain, .acceptTrains, .advertiseSubevents]
            .contains(call.kind) || call.isInSubevent
    }

    /// The features of a controller are unknown if its responses about them were truncated.
    var mayLackSets: Bool { run.isTainted(station) || run.scenario.devices[station].hasExtendedAdvertising != true }

    /// Three users that each advertise everything they can may need more sets than the controller has.
    var mayHaveTooMuch: Bool { mayLackSets || run.scenario.devices[station].hasPeriodicAdvertising == true }

    // MARK: - The end

    /// Whether the user receives any periodic advertising.
    var isReceiving: Bool { !syncs.isEmpty }

    /// The user has left.
    func removeAll() { syncs = [] }

    func calm() { for token in calls.tokens(where: { $0.kind == .synchronize }) { context.callOff(token) } }

    /// Checks that the user is only synchronized to active advertisers when the world is quiet.
    func checkQuiet() {
        for sync in syncs where !run.isDamaged(station) && !run.isDamaged(sync.train.station) {
            let silence = sync.last.duration(to: now)
            if silence > .seconds(12) {
                fail(.wanted, "a synchronization continues after \(silence) without data")
            }
        }
    }
}
