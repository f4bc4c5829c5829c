import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothSMP

/// A user that makes its calls on the seam, and checks every event that comes back.
final class CallUser: SimulatedUser, AdapterObserver, @unchecked Sendable {
    // Unchecked: used on the world's thread alone.

    let run: ScenarioRun
    let station: Int
    let number: Int
    /// Whether it publishes the service of its station.
    let isPublisher: Bool
    private(set) var isAttached = false
    private(set) var callCount = 0
    private var user = UserID(number: 0)

    var calls = CallLedger()
    var links: [UserLink] = []
    var status = AdapterStatus.opening
    /// Services it has published beside that of the station, by their declarations.
    var passing: [GATTServiceHandles] = []
    /// The periodic advertising that it receives.
    var syncs: [UserSync] = []
    var requests: [ServerRequest] = []
    /// When each of them came.
    var requestTimes: [ServerRequest: Instant] = [:]
    /// The last links that have ended.
    var formerLinks: [LinkIdentifier] = []
    /// How long it takes to answer requests of peers; nil if it does not.
    var answerDelay: Duration? = .zero
    var generator: SeededGenerator
    /// What answers for the person; nil if this user does not.
    var agent: SimulatedAgent?
    var lostAgencyAt: Instant?
    /// How often it still comes and goes.
    var visits = 0
    /// Questions that wait for an answer, and the number of the last of each link.
    var questions: [LinkIdentifier: PairingQuestion] = [:]
    var questionNumbers: [LinkIdentifier: Int] = [:]
    var lastQuestion = 0
    /// Whether everything is to come to rest.
    var isCalm = false
    private var isResetting = false
    /// Counts the batches of events.
    private var batch = 0

    init(_ run: ScenarioRun, station: Int, number: Int) {
        self.run = run
        self.station = station
        self.number = number
        isPublisher = number == 0
        generator = SeededGenerator(seed: run.world.order.next())
    }

    var runner: AdapterRunner { run.runners[station] }

    func join() {
        guard !isAttached else { return }
        isAttached = true
        status = .opening
        user = runner.attach(self)
        offerChannels()
        guard isPublisher else { return }
        publish(SimulatedService.definition(of: station))
        if run.scenario.hasHardship {
            post(
                .publish(SimulatedService.configurableDefinition, at: nil),
                CallLedger.Call(kind: .publish, isConfigurable: true))
        }
    }

    func leave() {
        guard isAttached else { return }
        leaveChannels()
        isAttached = false
        runner.detach(user)
        calls.removeAll()
        links = []
        passing = []
        syncs = []
        requests = []
        requestTimes = [:]
        formerLinks = []
        // The process may begin anew, and its links with their first numbers.
        run.configurations = run.configurations.filter { $0.key.station != station }
        if isPublisher {
            run.configurables[station] = nil
            run.configurations = run.configurations.filter { $0.key.peer != station }
        }
        noteAgentWish()
        agent = nil
        questions = [:]
        run.pairings.noteCancelled(station)
        run.serviceChangeCount += 1
        if isPublisher { run.withdrawn(at: station) }
    }

    // MARK: - Calls

    @discardableResult
    func post(_ kind: HostCall.Kind, _ call: CallLedger.Call) -> CallToken {
        let token = runner.makeToken()
        callCount += 1
        calls.begin(call, token, at: run.world.now, in: batch)
        if !runner.post(kind, token: token, from: user) { _ = calls.end(token) }
        return token
    }

    func post(_ kind: HostCall.Kind, token: CallToken = .none) {
        callCount += 1
        runner.post(kind, token: token, from: user)
    }

    private func publish(_ definition: GATTServiceDefinition) {
        post(.publish(definition, at: nil), CallLedger.Call(kind: .publish))
    }

    func publishPassing() { publish(SimulatedService.passingDefinition) }

    func fail(_ rule: Violation.Rule, _ text: String) {
        run.world.fail(rule, "user \(number): \(text)", at: run.world.station(station))
    }

    func index(of link: LinkIdentifier) -> Int? { links.firstIndex { $0.identifier == link } }

    // MARK: - Events

    func receive(_ batch: borrowing EventBatch) {
        guard isAttached, batch.user == user || user.number == 0 else { return }
        self.batch += 1
        for event in batch.events { take(event, batch) }
        if isResetting, !links.isEmpty { fail(.linkEvents, "links outlive a reset") }
        if isResetting, !syncs.isEmpty { fail(.linkEvents, "synchronizations outlive a reset") }
        isResetting = false
    }

    private func take(_ event: UserEvent, _ batch: borrowing EventBatch) {
        switch event {
        case .adapter(let status): adapterChanged(to: status)
        case .ended(let token, let result): ended(token, result)
        case .sighting(let token, let index):
            guard let scan = calls.standing[token] ?? calls.open[token], index < batch.sightings.count else {
                return fail(.endsOnce, "a sighting of no scan")
            }
            check(batch.sightings[index], for: scan)
        case .linkBegan(let link, let information): linkBegan(link, information)
        case .linkEnded(let link, let reason):
            check(reason, of: link)
            linkEnded(link)
        case .mtuChanged(let link, let mtu): onLink(link) { $0.information.mtu = mtu }
        case .parametersChanged(let link, let parameters): onLink(link) { $0.information.parameters = parameters }
        case .phyChanged(let link, let phys): onLink(link) { $0.information.phys = phys }
        // Nobody here asks for that.
        case .power(let link, _, _): fail(.endsOnce, "a report of the power on \(link), which was not asked for")
        case .sendCredit(let link, let count):
            onLink(link) { $0.credit += count }
            if let credit = index(of: link).map({ links[$0].credit }), credit > SharedHost.sendCredit {
                fail(.bounds, "\(credit) credits for values, of which there are \(SharedHost.sendCredit)")
            }
            sendBacklog(link)
        case .lost(let link, _):
            onLink(link) {
                $0.received.noteLoss()
                // The card that has begun is not shown, and the next one is whole.
                try? $0.card.noteLoss()
            }
        case .peerIdentified(let link, _): onLink(link) { _ in }
        case .nameChanged: return
        case .servicesKnown(let link, _): onLink(link) { $0.isWatched = true }
        case .servicesChanged(let link, let handles): servicesChanged(link, handles)
        case .value(let link, let handle, let payload): received(batch.bytes(of: payload), handle, link)
        case .written(let link, let handle, let payload): written(batch.bytes(of: payload), handle, link)
        case .readRequested(let request, let handle, let offset):
            checkAccess(handle, request.link, isWrite: false)
            answer(request, offset: offset)
        case .writeRequested(let request, let handle, _):
            checkAccess(handle, request.link, isWrite: true)
            answer(request, offset: nil)
        case .executeRequested(let request, _): answer(request, offset: nil)
        // Nothing that is published here asks for consent.
        case .authorizationRequested: fail(.fittingReason, "consent was asked for where none is needed")
        case .requestExpired(let request): forget(request)
        case .subscriptionChanged(let link, let change): subscriptionChanged(link, change)
        case .securityChanged(let link, let security): securityChanged(link, security)
        case .pairingEnded(let link, let result): pairingEnded(link, result)
        case .pairingAsked(let link, let question): asked(link, question)
        case .pairingShown(let link, let display): shown(link, display)
        case .bondRefused(let link, _): bondRefused(link)
        case .channel(let link, let event): take(event, of: link, batch)
        case .advertisingSetEnded(let token, let error): setEnded(token, error)
        case .periodic(let sync, let event): take(event, of: sync, batch)
        case .subevents(let set, let event): take(event, of: set, batch)
        }
    }

    private func adapterChanged(to status: AdapterStatus) {
        self.status = status
        switch status {
        case .lost, .closed:
            if !links.isEmpty { fail(.linkEvents, "links outlive their adapter") }
            if !syncs.isEmpty { fail(.linkEvents, "synchronizations outlive their adapter") }
            let goOn: [Scenario.Action.Kind] = [
                .advertise, .publish, .withdraw, .beAgent, .beNoAgent, .removeBond,
            ]
            // An offer of channels needs no adapter either.
            let goesOn = { (call: CallLedger.Call) in
                goOn.contains(call.kind) || call.kind == .openChannel && call.link == nil
            }
            if calls.hasOpen(where: { !goesOn($0) && $0.batch != batch }) {
                fail(.endsOnce, "calls outlive their adapter")
            }
            calls.cancelAll { $0.kind == .scan }
        // The ends of links follow in the same batch.
        case .resetting: isResetting = true
        case .opening, .unavailable, .ready: return
        }
    }

    private func linkBegan(_ link: LinkIdentifier, _ information: LinkInformation) {
        guard index(of: link) == nil else { return fail(.linkEvents, "\(link) began twice") }
        guard let peer = run.station(at: information.address) ?? run.anyTaintedStation else {
            return fail(.linkEvents, "a link to \(information.address), where nobody is")
        }
        links.append(UserLink(identifier: link, information: information, peer: peer, beginning: run.world.now))
        leaveAtOnce(links[links.count - 1])
    }

    private func linkEnded(_ link: LinkIdentifier) {
        guard let index = index(of: link) else { return fail(.linkEvents, "the end of \(link), which never began") }
        // What was called for in this very batch has not even begun.
        let open = calls.open.first { _, call in
            call.link == link && call.kind != .disconnect && call.batch != batch
        }
        if let open { fail(.endsOnce, "\(open.value.kind.rawValue) outlives its link") }
        if !links[index].subscriptions.isEmpty {
            fail(.subscriptions, "the end of a link without that of its peer's subscriptions")
        }
        if !links[index].channels.isEmpty { fail(.linkEvents, "the end of a link without that of its channels") }
        if links[index].awaitsPairingEnd, agent != nil {
            fail(.agent, "the end of a link without that of its pairing")
        }
        questions[link] = nil
        requests.removeAll { $0.link == link }
        links.remove(at: index)
        formerLinks = formerLinks.suffix(2) + [link]
        calls.cancelAll { $0.link == link && $0.isStanding }
        visitAgain()
    }

    private func onLink(_ link: LinkIdentifier, _ body: (inout UserLink) -> Void) {
        guard let index = index(of: link) else { return fail(.linkEvents, "an event of \(link), which is not there") }
        body(&links[index])
    }

    private func servicesChanged(_ link: LinkIdentifier, _ handles: ClosedRange<AttributeHandle>) {
        onLink(link) { link in
            link.handles = link.handles.filter { !handles.overlaps($0.value) }
            link.received.forget()
            link.lastChange = (handles, run.world.now, run.epochs[link.peer])
        }
        calls.cancelAll { call in
            call.link == link && call.kind == .subscribe && call.handle.map(handles.contains) ?? false
        }
    }
}
