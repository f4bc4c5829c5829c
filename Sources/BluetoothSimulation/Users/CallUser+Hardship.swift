import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost

/// What is done in worlds with hardship, and what is asked of the ends of links, of requests and of attempts.
extension CallUser {
    // MARK: - A subscription that is written by itself

    func configure(_ index: Int, _ pick: inout SeededGenerator) {
        let peer = links[index].peer
        guard let descriptor = run.configurables[peer]?.characteristics.first?.clientConfiguration else { return }
        let all: [GATTClientConfiguration] = [[], .notifications, .indications, [.notifications, .indications]]
        let link = links[index].identifier
        var call = CallLedger.Call(kind: .configure, link: link, handle: descriptor)
        call.configuration = all[pick.below(all.count)]
        call.epoch = run.epochs[peer]
        post(.perform(link, .configure(descriptor: descriptor, call.configuration ?? [])), call)
    }

    /// A client knows what it has written, or, without a value, that it does not.
    func noteConfigured(_ call: CallLedger.Call, _ value: GATTClientConfiguration?) {
        guard let link = call.link, let handle = call.handle, let index = index(of: link) else { return }
        let way = ScenarioRun.Way(station: station, peer: links[index].peer)
        // The answer may come when another service has the handle.
        let isOutdated = call.epoch.map { $0 != run.epochs[links[index].peer] } ?? false
        // Writes over several bearers have no order, neither on their way nor in their answers.
        let isOneOfSeveral =
            run.isEncrypted(station, links[index].peer)
            && run.users[station].contains {
                ($0 as? CallUser)?.calls.hasOpen { $0.kind == .configure && $0.link == link && $0.handle == handle }
                    ?? false
            }
        let isUnsure =
            isOutdated || isOneOfSeveral
            || run.configurations[way].map { $0.link == link && $0.value == nil } ?? false
        run.configurations[way] = (handle, link, isUnsure ? nil : value)
    }

    func isConfigurable(_ handle: AttributeHandle) -> Bool {
        run.configurables[station]?.characteristics.first?.value == handle
    }

    /// The peer has written its subscription.
    func configured(_ change: GATTSubscriptionChange, _ index: Int) {
        let isAnew = run.pairings.isEverBonded(station, links[index].peer)
        if links[index].configured != change.old, !isAnew {
            fail(.subscriptions, "a subscription was \(change.old), and before that \(links[index].configured)")
        }
        links[index].configured = change.new
    }

    // MARK: - Links that have ended

    func useFormerLink(_ pick: inout SeededGenerator) {
        guard let link = pick.element(of: formerLinks) else { return }
        let call = CallLedger.Call(kind: .useFormerLink, link: link)
        switch pick.below(4) {
        case 0: post(.perform(link, .read(3)), call)
        case 1: post(.readRSSI(link), call)
        case 2: post(.write(link, 3, [1]), call)
        default: post(.disconnect(link, reason: nil), call)
        }
    }

    /// The reason of an end is one for which there was a cause.
    func check(_ reason: DisconnectReason, of link: LinkIdentifier) {
        guard let index = index(of: link) else { return }
        let peer = links[index].peer
        let isWrong =
            switch reason {
            case .transactionTimeout: !mayTimeOut(link) && !run.isDamaged(station)
            case .supervisionTimeout: run.faults == 0
            case .peerTooFast: !run.isTainted(peer) && !run.isTainted(station)
            case .consumerTooSlow:
                run.scenario.devices[station].hasHostFlowControl && !run.hasFaults(station) && !run.isDamaged(station)
            case .other(.memoryCapacityExceeded): true
            case .byThisDevice:
                // A server on CoreBluetooth ends a link of which a write without response may have been lost.
                links[index].isHeld && !run.hasSecurity && !run.hasFaults(station) && !run.incomplete.contains(peer)
                    && !run.disconnects.contains(.init(station: station, peer: peer))
            default: false
            }
        if isWrong { fail(.fittingReason, "a link ended because \(reason)") }
    }

    // MARK: - Requests

    /// A request waits for its answer.
    func keep(_ request: ServerRequest) {
        run.hasDawdled = true
        requests.append(request)
        requestTimes[request] = run.world.now
    }

    func forget(_ request: ServerRequest) {
        requests.removeAll { $0 == request }
        requestTimes[request] = nil
    }

    /// No request waits for longer than it may, and none waits behind another on its link.
    func checkRequests() {
        guard !run.hasFaults(station), !run.isDamaged(station) else { return }
        for request in requests {
            guard let time = requestTimes[request], run.world.now > time.advanced(by: Self.longestWait) else {
                continue
            }
            fail(.fittingReason, "a request was never answered, and has not expired either")
        }
    }

    /// Longer than a host waits for its application.
    private static let longestWait = Duration.seconds(27)

    // MARK: - Cards of which nothing comes

    func noteOctets(_ index: Int) {
        run.lastOctets[.init(station: station, peer: links[index].peer)] = run.world.now
    }

    func dribble(_ index: Int) {
        let link = links[index].identifier
        guard links[index].subscriptions[.card] != nil, links[index].cardToSend == nil, !links[index].isDribbling,
            links[index].credit > 0
        else { return }
        links[index].isDribbling = true
        noteOctets(index)
        drip(link, SimulatedCard.dribble, left: 14)
    }

    /// Sends a part of a card, and then empty ones, one each second; in the end what ends a card.
    private func drip(_ link: LinkIdentifier, _ part: [UInt8], left: Int) {
        guard isAttached, let index = index(of: link), links[index].isDribbling else { return }
        guard links[index].subscriptions[.card] != nil, let handle = run.handle(of: .card, at: station) else {
            links[index].isDribbling = false
            return
        }
        // Without a credit there is no dribble, which nobody misses.
        if links[index].credit > 0 {
            links[index].credit -= 1
            post(.update(link, handle, part))
        }
        guard left >= 0 else {
            links[index].isDribbling = false
            return
        }
        run.world.schedule(at: run.world.now.advanced(by: .seconds(1))) { [self] in
            drip(link, left > 0 ? [] : Array("EOM".utf8), left: left - 1)
        }
    }

    // MARK: - Attempts

    /// Whether an attempt to connect may wait until its peer is there, however long that takes.
    func mayGoOn(_ call: CallLedger.Call) -> Bool {
        call.kind == .connect && call.deadline == nil && run.scenario.devices[station].isSingleMinded != true
    }
}

extension ScenarioRun {
    /// Has each server send what its clients have not subscribed to: it must not leave.
    func examine() {
        for user in users.joined() {
            guard let user = user as? CallUser, user.isAttached, user.isPublisher, !isDamaged(user.station) else {
                continue
            }
            user.sendUnwanted()
        }
        world.run(for: .seconds(1))
    }
}

extension CallUser {
    fileprivate func sendUnwanted() {
        guard let handle = run.handle(of: .stream, at: station) else { return }
        let value = SimulatedValue(.writeOnly, station: station, stream: 0, number: 0).bytes(count: 20)
        for index in links.indices where links[index].credit > 0 && links[index].backlog.isEmpty {
            guard links[index].subscriptions[.stream]?.contains(.notifications) != true,
                !run.pairings.isEverBonded(station, links[index].peer)
            else { continue }
            links[index].credit -= 1
            post(.notify(links[index].identifier, handle, value))
        }
    }
}
