import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothUsers

/// A user's subscriptions, and the values and cards that it receives.
final class UserValues: UserPart {
    let context: UserContext
    private let discovery: UserDiscovery
    private let sending: UserSending
    private var inboxes: [LinkIdentifier: Inbox] = [:]

    private struct Inbox {
        var order = StreamOrder()
        /// The card being received.
        var card = ChunkedMessageReceiver()
        /// Whether the content of `card` starts at the beginning of a card.
        var isCardWhole = false
    }

    init(_ context: UserContext, discovery: UserDiscovery, sending: UserSending) {
        self.context = context
        self.discovery = discovery
        self.sending = sending
    }

    // MARK: - Subscriptions

    func subscribe(
        _ link: UserLink, to characteristic: SimulatedService.Characteristic, _ configuration: GATTClientConfiguration
    ) {
        let identifier = link.identifier
        // A user that cancels its wait for a link also stops its work there.
        guard link.isHeld || link.information.role == .peripheral else { return }
        // One subscription per characteristic and link is enough, and makes clear which values belong to which.
        let isKnown = !calls.tokens { $0.link == identifier && $0.characteristic == characteristic }.isEmpty
        guard !isKnown, let handle = discovery.handle(of: characteristic, on: link) else { return }
        let found = discovery.handles(of: characteristic, on: identifier)
        let end = found?.upperBound ?? AttributeHandle(handle.rawValue + 1)
        forget(characteristic, on: identifier)
        post(
            .subscribe(
                identifier, SubscriptionRequest(characteristic: handle, end: end, configuration: configuration)),
            CallLedger.Call(kind: .subscribe, link: identifier, handle: handle, characteristic: characteristic))
    }

    func unsubscribe(_ link: LinkIdentifier, _ pick: inout SeededGenerator) {
        let tokens = calls.tokens { $0.kind == .subscribe && $0.link == link }
        guard let token = pick.element(of: tokens) else { return }
        let isCancelled = pick.oneIn(2)
        forget((calls.standing[token] ?? calls.open[token])?.characteristic, on: link)
        if isCancelled { return context.callOff(token) }
        context.noteCancelled(token)
        post(.unsubscribe(link, token), CallLedger.Call(kind: .unsubscribe, link: link))
    }

    /// Notes a cancelled subscription. The peer may already have sent values.
    func noteCalledOff(_ call: CallLedger.Call) {
        guard call.kind == .subscribe, let link = call.link else { return }
        forget(call.characteristic, on: link)
    }

    /// Notes that the user releases a link, which ends its subscriptions.
    func releaseAll(_ link: LinkIdentifier) {
        forget(.stream, on: link)
        forget(.card, on: link)
    }

    /// Forgets earlier values, which say nothing about those of the next subscription.
    private func forget(_ characteristic: SimulatedService.Characteristic?, on link: LinkIdentifier) {
        if characteristic == .card {
            inboxes[link]?.card = ChunkedMessageReceiver()
            inboxes[link]?.isCardWhole = false
        } else {
            let commands = sending.stream(.init(characteristic: .commands), on: link)?.identifier
            inboxes[link]?.order.forget(except: commands)
        }
    }

    func isSubscribedByOldHandles(of station: Int) -> Bool {
        calls.standing.values.contains { call in
            guard call.kind == .subscribe, let characteristic = call.characteristic,
                call.link.flatMap({ links[$0] })?.peer == station
            else { return false }
            return call.handle != run.handle(of: characteristic, at: station)
        }
    }

    func isSubscribed(to characteristic: SimulatedService.Characteristic, of station: Int) -> Bool {
        // With handles of a service that has moved, a user is subscribed to another attribute, or to none.
        let handle = run.handle(of: characteristic, at: station)
        return calls.standing.values.contains { call in
            call.kind == .subscribe && call.characteristic == characteristic && call.handle == handle
                && call.link.flatMap { links[$0] }?.peer == station
        }
    }

    /// The last value received in a stream; nil if there is none, or if values are known to be lost.
    func lastReceived(of stream: UInt32, from station: Int) -> UInt32? {
        guard let link = links.all.first(where: { $0.peer == station }) else { return nil }
        return inboxes[link.identifier]?.order.last(of: stream)
    }

    // MARK: - Events

    func linkBegan(_ link: LinkIdentifier) { inboxes[link] = Inbox() }

    func linkEnded(_ link: LinkIdentifier) { inboxes[link] = nil }

    /// The user has left.
    func removeAll() { inboxes = [:] }

    /// Values were lost.
    func noteLoss(on link: LinkIdentifier) {
        inboxes[link]?.order.noteLoss()
        // The current card is discarded, and the next one must be complete.
        try? inboxes[link]?.card.noteLoss()
    }

    /// Notes that values may have been dropped while the peer was not authenticated.
    func noteSecurityChange(on link: LinkIdentifier) { if run.hasSecurity { inboxes[link]?.order.noteLoss() } }

    func servicesChanged(on link: LinkIdentifier) { inboxes[link]?.order.forget() }

    func received(_ bytes: Span<UInt8>, _ handle: AttributeHandle, on identifier: LinkIdentifier) {
        guard let link = links[identifier] else {
            return fail(.linkEvents, "a value was reported on \(identifier), which does not exist")
        }
        let peer = link.peer
        if bytes.count > link.information.mtu - 3 {
            fail(.mtu, "a value of \(bytes.count) octets arrived at an ATT_MTU of \(link.information.mtu)")
        }
        guard !run.isTainted(station), !run.isTainted(peer) else { return }
        if run.hasSecurity { checkTrust(link) }
        let meanings = run.meanings(of: handle, at: peer)
        if meanings.contains(.locked), run.hasSecurity { return checkLocked(bytes, meanings, peer) }
        if meanings == [.card] {
            // The value may come from the handle that the service had before.
            if handle == run.handle(of: .card, at: peer) { receivedChunk(bytes, link) }
            return
        }
        guard let value = SimulatedValue(bytes), value.characteristic == .stream, value.station == peer else {
            if meanings.contains(.card) { return }
            // A bonded client has also configured characteristics of the stack's own services.
            if meanings.isEmpty, run.pairings.isEverBonded(station, peer) { return }
            // This may be Service Changed (Vol 3, Part G, 7.1), which was not subscribed to on this link. An earlier
            // link with the same connection handle subscribed to it, too late.
            if meanings.isEmpty, bytes.count == 4, run.hasFaults(peer) { return }
            return fail(.valueOrder, "a value of attribute \(handle) arrived that station \(peer) did not send")
        }
        if !SimulatedValue.isWhole(bytes) { fail(.valueOrder, "a value was truncated to \(bytes.count) octets") }
        checkOrder(value, link)
    }

    private func receivedChunk(_ bytes: Span<UInt8>, _ link: UserLink) {
        let identifier = link.identifier
        guard let progress = try? inboxes[identifier]?.card.receive(bytes), case .complete(let card) = progress else {
            return
        }
        // The beginning may have arrived before this user subscribed. Values without a subscriber go to all users, and
        // stop for this user once another one subscribes.
        let isSubscribed = isSubscribed(to: .card, of: link.peer)
        guard inboxes[identifier]?.isCardWhole == true, isSubscribed else {
            inboxes[identifier]?.isCardWhole = isSubscribed
            return
        }
        if !card.isEmpty, !SimulatedCard.isWhole(card) {
            fail(.wholeMessage, "a card of \(card.count) octets is incomplete")
        }
        run.cardCount += 1
    }

    /// Checks a value that a peer has written.
    func written(_ bytes: Span<UInt8>, _ handle: AttributeHandle, on identifier: LinkIdentifier) {
        guard let link = links[identifier] else {
            return fail(.linkEvents, "a write was reported on \(identifier), which does not exist")
        }
        let peer = link.peer
        guard !run.isTainted(station), !run.isTainted(peer), handle == run.handle(of: .commands, at: station),
            let value = SimulatedValue(bytes), value.stream != 0
        else { return }
        guard value.station == peer else {
            return fail(.valueOrder, "station \(peer) wrote a value of station \(value.station)")
        }
        if !SimulatedValue.isWhole(bytes) {
            fail(.valueOrder, "a written value was truncated to \(bytes.count) octets")
        }
        checkOrder(value, link)
    }

    // MARK: - Checks

    /// Checks that a value from a bonded peer arrives over an encrypted link. Otherwise any device could have sent it.
    private func checkTrust(_ link: UserLink) {
        let peer = link.peer
        guard !run.isDamaged(station), run.bond(station, with: peer) != nil, !run.isEncrypted(station, peer),
            // A host removes a bond immediately, and its store some time later.
            !run.isStoring(station), !run.pairings.isForgotten(station, peer, since: link.beginning)
        else { return }
        fail(.protection, "a value of a bonded peer was delivered over an unencrypted link")
    }

    private func checkLocked(_ bytes: Span<UInt8>, _ meanings: Set<SimulatedService.Characteristic>, _ peer: Int) {
        if meanings == [.locked], !run.isEncrypted(station, peer) {
            fail(.protection, "a value that requires encryption arrived over an unencrypted link")
        }
        if meanings == [.locked], SimulatedValue(bytes)?.station != peer {
            fail(.valueOrder, "a value that requires encryption arrived, but station \(peer) did not send it")
        }
    }

    private func checkOrder(_ value: SimulatedValue, _ link: UserLink) {
        let mayMiss = run.mayMiss(value.stream, station, link.peer)
        if let finding = inboxes[link.identifier]?.order.take(value, mayMiss: mayMiss) {
            fail(finding.rule, finding.text)
        }
    }
}
