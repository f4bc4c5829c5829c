import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// The links that users want: how they begin and end.
extension SharedHost {
    // MARK: - Wanting a link

    mutating func connect(_ call: UserCall, _ peer: PeerID, _ request: ConnectRequest, at now: Instant) {
        if let refusal { return end(call, .failure(refusal)) }
        let peer = host.lastingName(of: peer)
        let isKnown = connects.contains { $0.peer == peer && $0.call.user == call.user }
        if isKnown || usableLink(to: peer).map({ links[$0].holders.contains(call.user) }) == true {
            return end(call, .failure(.alreadyConnected))
        }
        let route: ConnectionRoute
        switch request.route {
        case .advertising(let phys): route = .advertising(phys)
        case .subevent(let number, let token):
            // Said at once, so that it fails no attempt that serves others, too.
            guard let index = index(ofSet: token, call.user),
                host.advertiser.has(number, of: advertisingSets[index].handle)
            else { return end(call, .failure(.invalidParameters)) }
            route = .subevent(number, of: advertisingSets[index].handle)
        }
        connects.append(
            call, peer, request, by: route, notBefore: shortLivedLinks.deadline(for: peer, at: now), at: now)
        reconcileConnecting(at: now)
    }

    /// Gives users the existing links, and makes the host connect to the other peers.
    mutating func reconcileConnecting(at now: Instant) {
        for slot in links.indices where links[slot].isInUse && links[slot].isUsable {
            let peer = host.lastingName(of: links[slot].peer)
            for wanted in connects.removeAll(where: { $0.peer == peer && $0.isActive }) { hold(slot, for: wanted) }
        }
        for peer in connects.peers {
            guard connects.isActive(peer), link(to: peer) == nil else { continue }
            let route = connects.route(to: peer)
            if let attempt = connects.attempts[peer] {
                guard attempt.route != route, attempt.route.isSubevent || route.isSubevent else { continue }
                connects.attempts[peer] = nil
                host.cancelConnecting(attempt.identifier, at: now)
            }
            beginAttempt(peer, by: route, at: now)
        }
        for (peer, attempt) in connects.attempts where !connects.isActive(peer) {
            connects.attempts[peer] = nil
            host.cancelConnecting(attempt.identifier, at: now)
        }
    }

    private mutating func beginAttempt(_ peer: PeerID, by route: ConnectionRoute, at now: Instant) {
        do throws(HostError) {
            let attempt = try host.connect(to: peer, timeout: nil, by: route, at: now)
            connects.attempts[peer] = WantedConnections.Attempt(identifier: attempt, route: route)
        } catch {
            for wanted in connects.removeAll(where: { $0.peer == peer && $0.isActive }) {
                end(wanted.call, .failure(error))
            }
        }
    }

    mutating func connectionFailed(_ attempt: ConnectionAttempt, _ error: HostError, at now: Instant) {
        guard let (peer, attempt) = connects.remove(attempt) else { return }
        // The peer was faster: its link follows and serves as well.
        if error == .alreadyConnected { return }
        let error = status == .lost ? HostError.adapterRemoved : error
        // That it did not answer in a subevent, or that this is gone, says nothing to those who wait for an advertisement.
        let isOfRoute = attempt.route.isSubevent && (error == .cancelled || error == .connectionFailedToBeEstablished)
        let failed = connects.removeAll { one in
            one.peer == peer && one.isActive && (!isOfRoute || one.route == attempt.route)
        }
        for wanted in failed { end(wanted.call, .failure(error)) }
        if isOfRoute { reconcileConnecting(at: now) }
    }

    /// Handles the deadlines of wanted links.
    mutating func fireConnecting(at now: Instant) {
        for wanted in connects.expire(at: now) { end(wanted.call, .failure(.timedOut)) }
        for slot in links.indices where links[slot].isInUse {
            let late = links[slot].awaitingReadiness.filter { $0.isOver(at: now) }
            for wanted in late { stopAwaiting(wanted.call, slot, .peerNotResponding, at: now) }
        }
        reconcileConnecting(at: now)
        if !host.events.isEmpty { drain(at: now) }
    }

    // MARK: - Links

    /// The link to a peer, even one that is about to end.
    private func link(to peer: PeerID) -> Int? {
        links.indices.first { links[$0].isInUse && host.lastingName(of: links[$0].peer) == peer }
    }

    private func usableLink(to peer: PeerID) -> Int? {
        link(to: peer).flatMap { links[$0].isUsable ? $0 : nil }
    }

    /// Gives a user a link, once ATT_MTU is settled.
    private mutating func hold(_ slot: Int, for wanted: WantedConnections.Wanted) {
        let user = wanted.call.user
        if !links[slot].holders.contains(user) { links[slot].holders.append(user) }
        if links[slot].isReady {
            end(wanted.call, .success(.link(links[slot].identifier)))
        } else {
            links[slot].awaitingReadiness.append(wanted)
        }
    }

    /// Ends a call that waits for ATT_MTU to be settled, and its user's use of the link. False if there is none.
    @discardableResult
    mutating func stopAwaiting(_ call: UserCall, _ slot: Int, _ error: HostError, at now: Instant) -> Bool {
        guard let index = links[slot].awaitingReadiness.firstIndex(where: { $0.call == call }) else { return false }
        links[slot].awaitingReadiness.remove(at: index)
        end(call, .failure(error))
        release(slot, for: call.user, at: now)
        return true
    }

    /// When the first deadline of a wanted link is, whether it is there or not.
    var nextConnectDeadline: Instant? {
        var deadline = connects.nextDeadline
        for slot in links.indices where links[slot].isInUse && !links[slot].isReady {
            for wanted in links[slot].awaitingReadiness { deadline = earliest(deadline, wanted.deadline) }
        }
        return deadline
    }

    mutating func linkBegan(_ link: LinkIdentifier, _ attempt: ConnectionAttempt?, at now: Instant) {
        guard let information = host.information(of: link) else {
            // It has ended meanwhile: `disconnected` follows.
            if let attempt { connectionFailed(attempt, .disconnected(.unknown), at: now) }
            return
        }
        let slot = Int(link.slot)
        var record = LinkRecord(identifier: link, peer: information.peer, role: information.role, beginning: now)
        record.mtu = information.mtu
        record.preparation.serviceChanged = host.serviceChangedHandle(of: link) ?? 0
        record.preparation.isChangeWatched = record.preparation.serviceChanged != 0
        while links.count < slot {
            var unused = record
            unused.isInUse = false
            links.append(unused)
        }
        if slot == links.count { links.append(record) } else { links[slot] = record }
        _ = connects.remove(attempt)
        tellAll(.linkBegan(link, information))
        tellAll(.sendCredit(link, Self.sendCredit))
        if information.role == .central {
            // The host exchanges the MTU by itself; this operation ends with that exchange.
            start(.exchangeMTU(clientRxMTU: host.configuration.preferredMTU), for: .readiness, slot, at: now)
        } else {
            links[slot].isReady = true
        }
        let peer = host.lastingName(of: information.peer)
        let wanted = connects.removeAll { $0.peer == peer && $0.isActive }
        for one in wanted { hold(slot, for: one) }
        // Cancelled at the last moment.
        if wanted.isEmpty, information.role == .central { disconnectIfUnused(slot, at: now) }
        reconcileConnecting(at: now)
    }

    /// ATT_MTU is settled, or never will be.
    mutating func exchangeIsOver(_ slot: Int) {
        links[slot].isExchangeOver = true
        finishReadiness(slot)
    }

    /// Gives the waiting users their link. The peer of a bond is not asked for anything before the link is encrypted.
    mutating func finishReadiness(_ slot: Int) {
        guard links[slot].isExchangeOver, !links[slot].isReady, !links[slot].isBondRefused,
            !host.isSecurityPending(on: links[slot].identifier),
            // Nothing is pending on a link that has ended under a pairing: that it has, follows.
            host.information(of: links[slot].identifier) != nil
        else { return }
        links[slot].isReady = true
        let waiting = links[slot].awaitingReadiness
        links[slot].awaitingReadiness = []
        for wanted in waiting { end(wanted.call, .success(.link(links[slot].identifier))) }
    }

    mutating func linkEnded(_ link: LinkIdentifier, _ reason: DisconnectReason, at now: Instant) {
        guard let slot = slot(of: link) else { return }
        let record = links[slot]
        links[slot].isInUse = false
        // Of what this side ends, its adapter included, the peer is innocent.
        if !record.isEnding, reason != .adapterReset, reason != .adapterRemoved {
            shortLivedLinks.linkEnded(with: host.lastingName(of: record.peer), after: record.beginning, at: now)
        }
        let reason = record.endReason ?? reason
        let error: HostError = reason == .adapterRemoved ? .adapterRemoved : .disconnected(reason)
        for operation in record.operations { abandon(operation.purpose, error) }
        for operation in record.heldOperations { abandon(operation.waiting.purpose, error) }
        keepAttributes(of: record)
        for operation in record.refusedOperations + record.caching.waiting {
            if case .call(let call) = operation.purpose { end(call, .failure(error)) }
        }
        for opening in record.channelOpenings { end(opening.request.call, .failure(error)) }
        for reconfiguration in record.reconfigurations { end(reconfiguration.call, .failure(error)) }
        for channel in record.refusedChannels { end(channel.request.call, .failure(error)) }
        for call in record.awaitingSecurity { end(call, .failure(error)) }
        for request in record.requests { end(request.call, .failure(error)) }
        for subscription in record.subscriptions {
            for holder in subscription.holders where !holder.isConfirmed { end(holder.call, .failure(error)) }
            for call in subscription.leaving { end(call, .failure(error)) }
        }
        for entry in record.indications.all { end(entry.call, .failure(error)) }
        for (handle, configuration) in record.peerSubscriptions.sorted(by: { $0.key < $1.key }) {
            guard let owner = services.owner(of: handle) else { continue }
            tell(
                .subscriptionChanged(
                    link, GATTSubscriptionChange(characteristic: handle, old: configuration, new: [])), to: owner)
        }
        for wanted in record.awaitingReadiness { end(wanted.call, .failure(error)) }
        tellAll(.linkEnded(link, reason))
        for call in record.awaitingEnd { end(call, .success(.done)) }
        reconcileConnecting(at: now)
    }

    // MARK: - Letting go

    /// A user releases a link, with its subscriptions there. Values that it has not taken hold back nobody else's.
    mutating func release(_ slot: Int, for user: UserID, at now: Instant) {
        resumeReceiving(slot, for: user)
        stopPowerReports(slot, where: { $0.user == user }, at: now)
        let isHolder = links[slot].holders.contains(user)
        links[slot].holders.removeAll { $0 == user }
        let waiting = links[slot].awaitingReadiness.filter { $0.call.user == user }
        links[slot].awaitingReadiness.removeAll { $0.call.user == user }
        for wanted in waiting { end(wanted.call, .failure(.cancelled)) }
        if isHolder { disconnectIfUnused(slot, at: now) }
        dropSubscriptions(of: user, slot, at: now)
    }

    private mutating func disconnectIfUnused(_ slot: Int, at now: Instant) {
        guard links[slot].holders.isEmpty, links[slot].role == .central else { return }
        beginDisconnecting(slot, at: now)
    }

    mutating func disconnect(_ call: UserCall, _ slot: Int, _ reason: DisconnectReason?, at now: Instant) {
        links[slot].endReason = links[slot].endReason ?? reason
        if call.token != .none { links[slot].awaitingEnd.append(call) }
        beginDisconnecting(slot, at: now)
    }

    private mutating func beginDisconnecting(_ slot: Int, at now: Instant) {
        links[slot].isEnding = true
        try? host.disconnect(links[slot].identifier, at: now)
    }

    // MARK: - Receiving

    /// A user has fallen behind with the values of a link.
    mutating func holdReceiving(_ slot: Int, for user: UserID) {
        guard !links[slot].receivingHolds.contains(user) else { return }
        links[slot].receivingHolds.append(user)
        host.holdReceiving(of: links[slot].identifier)
    }

    mutating func resumeReceiving(_ slot: Int, for user: UserID) {
        guard let index = links[slot].receivingHolds.firstIndex(of: user) else { return }
        links[slot].receivingHolds.remove(at: index)
        if links[slot].receivingHolds.isEmpty { host.resumeReceiving(of: links[slot].identifier) }
    }
}
