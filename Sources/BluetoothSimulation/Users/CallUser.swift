import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import BluetoothUsers

/// A user that calls the layer below both APIs, and checks every event that comes back.
///
/// It only routes: actions, events and the ends of calls go to the parts that they concern, each of which owns its
/// state.
final class CallUser: SimulatedUser, AdapterObserver, @unchecked Sendable {
    // Unchecked: only used on the world's thread.

    let context: UserContext
    let parts: UserParts
    /// Whether the adapter is being reset. Its links must end within the same batch.
    private var isResetting = false

    init(_ run: ScenarioRun, station: Int, number: Int) {
        context = UserContext(run, station: station, number: number)
        parts = UserParts(context)
    }

    // MARK: - Shared state

    var run: ScenarioRun { context.run }
    var station: Int { context.station }
    var isPublisher: Bool { context.isPublisher }
    var isAttached: Bool { context.isAttached }
    var callCount: Int { context.callCount }
    var links: [UserLink] { context.links.all }
    var linkCount: Int { context.links.all.count }
    var wantsScan: Bool { parts.scanning.isWanted }
    var wantsAdvertising: Bool { parts.advertising.isWanted }

    func wantsPairing(with station: Int) -> Bool { parts.pairing.isWanted(with: station) }

    func isSubscribed(to characteristic: SimulatedService.Characteristic, of station: Int) -> Bool {
        parts.values.isSubscribed(to: characteristic, of: station)
    }

    func isSubscribedByOldHandles(of station: Int) -> Bool { parts.values.isSubscribedByOldHandles(of: station) }

    func lastReceived(of stream: UInt32, from station: Int) -> UInt32? {
        parts.values.lastReceived(of: stream, from: station)
    }

    private func fail(_ rule: Violation.Rule, _ text: String) { context.fail(rule, text) }

    // MARK: - Lifetime

    func join() {
        guard !isAttached else { return }
        context.attach(self)
        parts.channels.offer()
        parts.services.publishAll()
    }

    func leave() {
        guard isAttached else { return }
        parts.channels.leave()
        context.detach()
        parts.removeAll()
        // The process may restart, and number its links from the beginning again.
        run.configurations = run.configurations.filter { $0.key.station != station }
        if isPublisher {
            run.configurables[station] = nil
            run.configurations = run.configurations.filter { $0.key.peer != station }
        }
        parts.agent.leave()
        run.serviceChangeCount += 1
        if isPublisher { run.withdrawn(at: station) }
    }

    // MARK: - Events

    func receive(_ batch: borrowing EventBatch) {
        guard context.begin(batch) else { return }
        for event in batch.events { take(event, batch) }
        if isResetting, !links.isEmpty { fail(.linkEvents, "links still exist after a reset") }
        if isResetting, parts.trains.isReceiving { fail(.linkEvents, "synchronizations still exist after a reset") }
        isResetting = false
    }

    private func take(_ event: UserEvent, _ batch: borrowing EventBatch) {
        switch event {
        case .adapter(let status): adapterChanged(to: status)
        case .ended(let token, let result): ended(token, result)
        case .sightings(let token, let range): parts.scanning.sighted(by: token, range, batch)
        case .linkBegan(let link, let information): linkBegan(link, information)
        case .linkEnded(let link, let reason):
            parts.ends.check(reason, of: link)
            linkEnded(link)
        case .mtuChanged(let link, let mtu): update(link) { $0.mtu = mtu }
        case .parametersChanged(let link, let parameters): update(link) { $0.parameters = parameters }
        case .phyChanged(let link, let phys): update(link) { $0.phys = phys }
        // No user requests power reports.
        case .power(let link, _, _): fail(.endsOnce, "the power on \(link) was reported without a request")
        case .sendCredit(let link, let count): if isKnown(link) { parts.sending.granted(count, on: link) }
        case .lost(let link, _): if isKnown(link) { parts.values.noteLoss(on: link) }
        case .peerIdentified(let link, _): _ = isKnown(link)
        case .nameChanged: return
        case .servicesKnown(let link, _): if isKnown(link) { parts.discovery.noteWatched(link) }
        case .servicesChanged(let link, let handles): servicesChanged(link, handles)
        case .value(let link, let handle, let payload):
            parts.values.received(batch.octets(of: payload), handle, on: link)
        case .subscriptionBegan(_, let token):
            if context.calls.open[token]?.kind != .subscribe {
                fail(.endsOnce, "a subscription began without a request")
            }
        case .written(let link, let handle, let payload):
            parts.requests.checkAccess(handle, link, isWrite: true)
            parts.values.written(batch.octets(of: payload), handle, on: link)
        case .readRequested(let request, let handle, let offset):
            parts.requests.checkAccess(handle, request.link, isWrite: false)
            parts.requests.answer(request, offset: offset)
        case .writeRequested(let request, let handle, _):
            parts.requests.checkAccess(handle, request.link, isWrite: true)
            parts.requests.answer(request, offset: nil)
        case .executeRequested(let request, _): parts.requests.answer(request, offset: nil)
        // No published attribute requires authorization.
        case .authorizationRequested:
            fail(.fittingReason, "authorization was requested for an operation that needs none")
        case .requestExpired(let request): parts.requests.forget(request)
        case .subscriptionChanged(let link, let change):
            guard let characteristic = parts.subscribers.changed(change, on: link) else { return }
            parts.sending.subscriptionChanged(characteristic, on: link)
        case .securityChanged(let link, let security): securityChanged(link, security)
        case .pairingEnded(let link, let result): parts.pairing.ended(link, result)
        case .pairingAsked(let link, let question): parts.agent.asked(link, question)
        case .pairingShown(let link, let display): parts.agent.shown(link, display)
        case .bondRefused(let link, _): parts.pairing.bondRefused(link)
        case .channel(let link, let event): parts.channels.take(event, of: link, batch)
        case .advertisingSetEnded(let token, let error): parts.advertising.setEnded(token, error)
        case .periodic(let sync, let event): parts.trains.take(event, of: sync, batch)
        case .subevents(let set, let event): parts.trains.take(event, of: set, batch)
        }
    }

    private func adapterChanged(to status: AdapterStatus) {
        context.note(status)
        switch status {
        case .lost, .closed:
            if !links.isEmpty { fail(.linkEvents, "links still exist after their adapter was removed") }
            if parts.trains.isReceiving {
                fail(.linkEvents, "synchronizations still exist after their adapter was removed")
            }
            let goOn: [Scenario.Action.Kind] = [
                .advertise, .publish, .withdraw, .beAgent, .beNoAgent, .removeBond,
            ]
            // An offer of channels does not need an adapter.
            let goesOn = { (call: CallLedger.Call) in
                goOn.contains(call.kind) || call.kind == .openChannel && call.link == nil
            }
            if context.calls.hasOpen(where: { !goesOn($0) && $0.batch != context.batch }) {
                fail(.endsOnce, "calls are still pending after their adapter was removed")
            }
            context.noteCancelled { $0.kind == .scan }
        case .resetting: isResetting = true
        case .opening, .unavailable, .ready: return
        }
    }

    // MARK: - Links

    /// Whether the user knows the link that an event refers to.
    private func isKnown(_ link: LinkIdentifier) -> Bool {
        if context.links[link] != nil { return true }
        fail(.linkEvents, "an event was reported for \(link), which does not exist")
        return false
    }

    private func update(_ link: LinkIdentifier, _ change: (inout LinkInformation) -> Void) {
        if isKnown(link) { context.links.update(link, change) }
    }

    private func linkBegan(_ identifier: LinkIdentifier, _ information: LinkInformation) {
        guard context.links[identifier] == nil else { return fail(.linkEvents, "\(identifier) began twice") }
        guard let peer = run.station(at: information.address) ?? run.anyTaintedStation else {
            return fail(.linkEvents, "a link to \(information.address) began, but no station has this address")
        }
        let link = UserLink(identifier: identifier, information: information, peer: peer, beginning: context.now)
        context.links.begin(link)
        run.linkedAddresses[station, default: []].insert(information.address)
        parts.linkBegan(link)
    }

    private func linkEnded(_ identifier: LinkIdentifier) {
        guard let link = context.links[identifier] else {
            return fail(.linkEvents, "\(identifier) ended without having begun")
        }
        // Calls made in this batch have not begun yet.
        let open = context.calls.open.first { _, call in
            call.link == identifier && call.kind != .disconnect && call.batch != context.batch
        }
        if let open { fail(.endsOnce, "\(open.value.kind.rawValue) is still pending after its link ended") }
        parts.linkEnds(link)
        context.links.end(identifier)
        parts.services.linkEnded()
        context.noteCancelled { $0.link == identifier && $0.isStanding }
        parts.attempts.linkEnded()
    }

    private func servicesChanged(_ identifier: LinkIdentifier, _ handles: ClosedRange<AttributeHandle>) {
        if isKnown(identifier), let link = context.links[identifier] {
            parts.discovery.servicesChanged(handles, on: link)
            parts.values.servicesChanged(on: identifier)
        }
        context.noteCancelled { call in
            call.link == identifier && call.kind == .subscribe && call.handle.map(handles.contains) ?? false
        }
    }

    private func securityChanged(_ identifier: LinkIdentifier, _ security: LinkSecurity) {
        guard let old = context.links[identifier] else {
            return fail(.linkEvents, "the security of \(identifier) was reported, which does not exist")
        }
        context.links.update(identifier) { $0.security = security }
        let isNew = security.isEncrypted && !old.information.security.isEncrypted
        if isNew, security.isBonded { parts.subscribers.checkRestored(old) }
        parts.values.noteSecurityChange(on: identifier)
        parts.pairing.check(security, of: old.peer)
    }
}
