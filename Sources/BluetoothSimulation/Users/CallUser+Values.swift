import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// Values, both ways.
extension CallUser {
    // MARK: - Received

    func received(_ bytes: Span<UInt8>, _ handle: AttributeHandle, _ link: LinkIdentifier) {
        guard let index = index(of: link) else { return fail(.linkEvents, "a value on \(link), which is not there") }
        let peer = links[index].peer
        if bytes.count > links[index].information.mtu - 3 {
            fail(.mtu, "a value of \(bytes.count) octets at an ATT_MTU of \(links[index].information.mtu)")
        }
        guard !run.isTainted(station), !run.isTainted(peer) else { return }
        if run.hasSecurity { checkTrust(index) }
        let meanings = run.meanings(of: handle, at: peer)
        if meanings.contains(.locked), run.hasSecurity { return receivedLocked(bytes, meanings, index) }
        if meanings == [.card] {
            // It may come from where the service was before.
            if handle == run.handle(of: .card, at: peer) { receivedChunk(bytes, index) }
            return
        }
        guard let value = SimulatedValue(bytes), value.characteristic == .stream, value.station == peer else {
            if meanings.contains(.card) { return }
            // A bonded client has also configured what is of the stack's own services.
            if meanings.isEmpty, run.pairings.isEverBonded(station, peer) { return }
            // Service Changed (Vol 3, Part G, 7.1), which this link has not asked for yet: what did that on an earlier link was
            // late, and has the same connection handle.
            if meanings.isEmpty, bytes.count == 4, run.hasFaults(peer) { return }
            return fail(.valueOrder, "a value of attribute \(handle) that station \(peer) did not send")
        }
        if !SimulatedValue.isWhole(bytes) { fail(.valueOrder, "a value of which only \(bytes.count) octets came") }
        checkOrder(value, index)
    }

    /// A value of a bonded peer comes over an encrypted link, or it may be anybody's.
    private func checkTrust(_ index: Int) {
        let peer = links[index].peer
        guard !run.isDamaged(station), run.bond(station, with: peer) != nil, !run.isEncrypted(station, peer) else {
            return
        }
        fail(.protection, "a value of a bonded peer was delivered over a link that is not encrypted")
    }

    private func receivedLocked(
        _ bytes: Span<UInt8>, _ meanings: Set<SimulatedService.Characteristic>, _ index: Int
    ) {
        let peer = links[index].peer
        if meanings == [.locked], !run.isEncrypted(station, peer) {
            fail(.protection, "a value for encrypted links came over one that is not")
        }
        if meanings == [.locked], SimulatedValue(bytes)?.station != peer {
            fail(.valueOrder, "a value for encrypted links that station \(peer) did not send")
        }
    }

    private func checkOrder(_ value: SimulatedValue, _ index: Int) {
        let mayMiss = run.mayMiss(value.stream, station, links[index].peer)
        if let finding = links[index].received.take(value, mayMiss: mayMiss) { fail(finding.rule, finding.text) }
    }

    private func receivedChunk(_ bytes: Span<UInt8>, _ index: Int) {
        guard let progress = try? links[index].card.receive(bytes), case .complete(let card) = progress else { return }
        // The beginning may have come before this user subscribed. What nobody subscribes to goes to all users, and stops for
        // this one when somebody does.
        let isSubscribed = isSubscribed(to: .card, of: links[index].peer)
        guard links[index].isCardWhole, isSubscribed else {
            links[index].isCardWhole = isSubscribed
            return
        }
        if !card.isEmpty, !SimulatedCard.isWhole(card) {
            fail(.wholeMessage, "a card of \(card.count) octets that is not whole")
        }
        run.cardCount += 1
    }

    /// A peer has written.
    func written(_ bytes: Span<UInt8>, _ handle: AttributeHandle, _ link: LinkIdentifier) {
        checkAccess(handle, link, isWrite: true)
        guard let index = index(of: link) else { return fail(.linkEvents, "a write on \(link), which is not there") }
        let peer = links[index].peer
        guard !run.isTainted(station), !run.isTainted(peer), handle == run.handle(of: .commands, at: station),
            let value = SimulatedValue(bytes), value.stream != 0
        else { return }
        guard value.station == peer else {
            return fail(.valueOrder, "a write of station \(value.station) from station \(peer)")
        }
        if !SimulatedValue.isWhole(bytes) { fail(.valueOrder, "a write of which only \(bytes.count) octets came") }
        checkOrder(value, index)
    }

    /// Nobody gets at what no unencrypted link may touch.
    func checkAccess(_ handle: AttributeHandle, _ link: LinkIdentifier, isWrite: Bool) {
        if index(of: link) == nil { fail(.linkEvents, "a request on \(link), which is not there") }
        guard let characteristic = run.characteristic(of: handle, at: station) else { return }
        let isAllowed =
            switch characteristic {
            case .stored, .dynamic: true
            case .commands, .writeOnly: isWrite
            case .constant: !isWrite
            case .locked: index(of: link).map { run.isEncrypted(station, links[$0]) } ?? false
            case .stream, .card: false
            }
        if !isAllowed { fail(.permission, "a peer \(isWrite ? "wrote" : "read") \(characteristic)") }
    }

    func answer(_ request: ServerRequest, offset: Int?) {
        if requests.contains(where: { $0.link == request.link && $0.bearer == request.bearer }) {
            fail(.oneRequest, "a request was told of while another one of its bearer waits")
        }
        guard let answerDelay else {
            keep(request)
            return
        }
        guard answerDelay > .zero else { return answerNow(request, offset) }
        keep(request)
        run.world.schedule(at: run.world.now.advanced(by: answerDelay)) { [self] in
            guard isAttached, requests.contains(request) else { return }
            forget(request)
            answerNow(request, offset)
        }
    }

    private func answerNow(_ request: ServerRequest, _ offset: Int?) {
        var call = CallLedger.Call(kind: .dawdle, link: request.link)
        call.hasTimeout = true
        if generator.oneIn(12) {
            post(.refuse(request, .unlikelyError), call)
        } else if let offset {
            let value = SimulatedValue(.dynamic, station: station, stream: 0, number: 1)
            post(.answer(request, Array(value.bytes(count: 60).dropFirst(offset))), call)
        } else {
            post(.accept(request), call)
        }
    }

    // MARK: - Sent

    func subscriptionChanged(_ link: LinkIdentifier, _ change: GATTSubscriptionChange) {
        guard let index = index(of: link) else {
            return fail(.linkEvents, "a subscription on \(link), which is not there")
        }
        if change.old == change.new, !change.isRestored {
            fail(.subscriptions, "a subscription was reported that has not changed: \(change.new)")
        }
        if isConfigurable(change.characteristic) { return configured(change, index) }
        guard let characteristic = run.characteristic(of: change.characteristic, at: station) else { return }
        if characteristic == .locked, !change.new.isEmpty, !run.isEncrypted(station, links[index]) {
            fail(.permission, "a peer subscribed to \(characteristic)")
        }
        // What was restored begins anew with the peer's first word.
        let begins = links[index].restored.remove(characteristic) != nil && !change.new.isEmpty
        if change.isRestored { links[index].restored.insert(characteristic) }
        guard (begins ? [] : links[index].subscriptions[characteristic] ?? []) == change.old else {
            return fail(.subscriptions, "a subscription that was \(change.old), not what was reported before")
        }
        links[index].subscriptions[characteristic] = change.new.isEmpty ? nil : change.new
        for isIndicated in [false, true] {
            let key = UserLink.StreamKey(characteristic: characteristic, isIndicated: isIndicated)
            links[index].sending[key] = nil
        }
        if characteristic == .card { links[index].cardToSend = nil }
        links[index].backlog.removeAll { $0.way != .command }
    }

    /// The next value of a stream, as long as it may be.
    private func nextValue(
        _ characteristic: SimulatedService.Characteristic, isIndicated: Bool = false, isFull: Bool = false, _ index: Int
    ) -> [UInt8] {
        let key = UserLink.StreamKey(characteristic: characteristic, isIndicated: isIndicated)
        var stream = links[index].sending[key] ?? UserLink.Stream(identifier: run.nextNumber())
        stream.last += 1
        links[index].sending[key] = stream
        let room = max(SimulatedValue.leastCount, min(links[index].information.mtu - 3, 244))
        let count = SimulatedValue.leastCount + generator.below(room - SimulatedValue.leastCount + 1)
        return SimulatedValue(characteristic, station: station, stream: stream.identifier, number: stream.last)
            .bytes(count: isFull ? room : generator.oneIn(2) ? min(20, room) : count)
    }

    func send(_ way: UserLink.Outgoing.Way, count: Int, on index: Int) {
        guard links[index].backlog.count < 16 else { return }
        links[index].backlog.append(UserLink.Outgoing(way: way, count: count))
        sendBacklog(links[index].identifier)
    }

    func sendBacklog(_ link: LinkIdentifier) {
        guard let index = index(of: link) else { return }
        sendCard(index)
        while links[index].credit > 0, var first = links[index].backlog.first {
            guard send(first.way, isFull: first.isFull, index) else {
                links[index].backlog.removeFirst()
                continue
            }
            links[index].credit -= 1
            first.count -= 1
            if first.count > 0 { links[index].backlog[0] = first } else { links[index].backlog.removeFirst() }
        }
    }

    /// Sends one value. False if it cannot be sent any more.
    private func send(_ way: UserLink.Outgoing.Way, isFull: Bool, _ index: Int) -> Bool {
        let link = links[index].identifier
        switch way {
        case .command:
            guard let handle = links[index].handles[.commands]?.lowerBound,
                handle == run.handle(of: .commands, at: links[index].peer)
            else { return false }
            post(.writeWithoutResponse(link, handle, nextValue(.commands, index)))
        case .notification, .update:
            guard let handle = run.handle(of: .stream, at: station),
                let subscription = links[index].subscriptions[.stream],
                way == .update || subscription.contains(.notifications)
            else { return false }
            // What is sent as the peer has subscribed is indicated to one that wants nothing else.
            let isIndicated = !subscription.contains(.notifications)
            let value = nextValue(.stream, isIndicated: isIndicated, isFull: isFull, index)
            post(way == .update ? .update(link, handle, value) : .notify(link, handle, value))
        }
        return true
    }

    private func sendCard(_ index: Int) {
        guard var sender = links[index].cardToSend, let handle = run.handle(of: .card, at: station) else { return }
        while links[index].credit > 0, !sender.isFinished {
            if !sender.nextChunk.isEmpty { noteOctets(index) }
            post(.update(links[index].identifier, handle, sender.nextChunk.copied()))
            links[index].credit -= 1
            sender.advance()
        }
        links[index].cardToSend = sender.isFinished ? nil : sender
    }

    func indicate(_ index: Int) {
        guard let handle = run.handle(of: .stream, at: station),
            links[index].subscriptions[.stream]?.contains(.indications) == true
        else { return }
        let link = links[index].identifier
        let value = nextValue(.stream, isIndicated: true, index)
        post(.indicate(link, handle, value), CallLedger.Call(kind: .indicate, link: link))
    }

    /// A command that the peer has to ignore.
    func sendForbiddenCommand(_ index: Int, _ pick: inout SeededGenerator) {
        let forbidden = SimulatedService.Characteristic.allCases.filter { $0.writeRefusal != nil }
        guard links[index].credit > 0, let chosen = pick.element(of: forbidden),
            let handle = run.handle(of: chosen, at: links[index].peer)
        else { return }
        links[index].credit -= 1
        // By the time it comes, the handle may be that of another value.
        let value = SimulatedValue(.stored, station: station, stream: 0, number: run.nextNumber())
        post(.writeWithoutResponse(links[index].identifier, handle, value.bytes(count: 10)))
    }
}

/// What it is subscribed to.
extension CallUser {
    func isSubscribedByOldHandles(of station: Int) -> Bool {
        calls.standing.values.contains { call in
            guard call.kind == .subscribe, let characteristic = call.characteristic,
                call.link.flatMap(index).map({ links[$0].peer }) == station
            else { return false }
            return call.handle != run.handle(of: characteristic, at: station)
        }
    }

    func isSubscribed(to characteristic: SimulatedService.Characteristic, of station: Int) -> Bool {
        // Who goes by handles of a service that has moved is subscribed to something else, or to nothing.
        let handle = run.handle(of: characteristic, at: station)
        return calls.standing.values.contains { call in
            call.kind == .subscribe && call.characteristic == characteristic && call.handle == handle
                && call.link.flatMap(index).map { links[$0].peer } == station
        }
    }
}
