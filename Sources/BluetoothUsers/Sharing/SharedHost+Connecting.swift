import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// Establishes and ends the links that users want.
extension SharedHost {
    // MARK: - Requesting a link

    mutating func connect(_ call: UserCall, _ peer: PeerID, _ request: ConnectRequest, at now: Instant) {
        if let refusal { return end(call, .failure(refusal)) }
        let peer = host.lastingPeer(of: peer)
        let isKnown = connects.contains { $0.peer == peer && $0.call.user == call.user }
        if isKnown || usableLink(to: peer).map({ links[$0.index].holders.contains(call.user) }) == true {
            return end(call, .failure(.alreadyConnected))
        }
        let route: ConnectionRoute
        switch request.route {
        case .advertising(let phys): route = .advertising(phys)
        case .subevent(let number, let token):
            // Fail immediately, so that an invalid subevent does not end an attempt that serves other users as well.
            guard let index = index(ofSet: token, call.user),
                host.hasSubevent(number, of: advertisingSets[index].handle)
            else { return end(call, .failure(.invalidParameters)) }
            route = .subevent(number, of: advertisingSets[index].handle)
        }
        connects.append(
            call, peer, request, by: route, notBefore: shortLivedLinks.deadline(for: peer, at: now), at: now)
        reconcileConnecting(at: now)
    }

    /// Gives users the existing links, and lets the host connect to the other wanted peers.
    mutating func reconcileConnecting(at now: Instant) {
        for slot in slots where links[slot.index].isInUse && links[slot.index].readiness.isUsable {
            let peer = host.lastingPeer(of: links[slot.index].peer)
            for wanted in connects.removeAll(where: { $0.peer == peer && $0.isActive }) { hold(slot, for: wanted) }
        }
        for peer in connects.peers {
            guard connects.isActive(peer), link(to: peer) == nil else { continue }
            let route = connects.route(to: peer)
            if let attempt = connects.attempts[peer] {
                guard attempt.route != route, attempt.route.isSubevent || route.isSubevent else { continue }
                connects.removeAttempt(to: peer)
                host.cancelConnecting(attempt.identifier, at: now)
            }
            beginAttempt(peer, by: route, at: now)
        }
        for (peer, attempt) in connects.attempts where !connects.isActive(peer) {
            connects.removeAttempt(to: peer)
            host.cancelConnecting(attempt.identifier, at: now)
        }
    }

    private mutating func beginAttempt(_ peer: PeerID, by route: ConnectionRoute, at now: Instant) {
        do throws(HostError) {
            let attempt = try host.connect(to: peer, timeout: nil, by: route, at: now)
            connects.began(attempt, to: peer, by: route)
        } catch {
            for wanted in connects.removeAll(where: { $0.peer == peer && $0.isActive }) {
                end(wanted.call, .failure(error))
            }
        }
    }

    mutating func connectionFailed(_ attempt: ConnectionAttempt, _ error: HostError, at now: Instant) {
        guard let (peer, attempt) = connects.remove(attempt) else { return }
        // The peer connected first. Its link is reported next, and serves these calls as well.
        if error == .alreadyConnected { return }
        let error = status == .lost ? HostError.adapterRemoved : error
        // If the peer did not respond in a subevent, or the subevent no longer exists, calls that wait for advertising
        // are not affected.
        let isOfRoute = attempt.route.isSubevent && (error == .cancelled || error == .connectionFailedToBeEstablished)
        let failed = connects.removeAll { one in
            one.peer == peer && one.isActive && (!isOfRoute || one.route == attempt.route)
        }
        for wanted in failed { end(wanted.call, .failure(error)) }
        if isOfRoute { reconcileConnecting(at: now) }
    }

    /// Handles the deadlines of calls that want links.
    mutating func fireConnecting(at now: Instant) {
        for wanted in connects.expire(at: now) { end(wanted.call, .failure(.timedOut)) }
        for slot in slots where links[slot.index].isInUse {
            let late = links[slot.index].awaitingReadiness.filter { $0.isOver(at: now) }
            for wanted in late { stopAwaiting(wanted.call, slot, .peerNotResponding, at: now) }
        }
        reconcileConnecting(at: now)
        if !host.events.isEmpty { drain(at: now) }
    }

    // MARK: - Links

    /// The link to a peer, including one that is about to end.
    private func link(to peer: PeerID) -> LinkSlot? {
        slots.first { links[$0.index].isInUse && host.lastingPeer(of: links[$0.index].peer) == peer }
    }

    private func usableLink(to peer: PeerID) -> LinkSlot? {
        link(to: peer).flatMap { links[$0.index].readiness.isUsable ? $0 : nil }
    }

    /// Adds a user to a link. The call ends once the ATT_MTU has been negotiated.
    private mutating func hold(_ slot: LinkSlot, for wanted: WantedConnections.Wanted) {
        let user = wanted.call.user
        if !links[slot.index].holders.contains(user) { links[slot.index].holders.append(user) }
        if links[slot.index].readiness.isReady {
            end(wanted.call, .success(.link(links[slot.index].identifier)))
        } else {
            links[slot.index].awaitingReadiness.append(wanted)
        }
    }

    /// Ends a call that waits for the link to be ready, and releases the link for its user. Returns false if the call
    /// is not waiting.
    @discardableResult
    mutating func stopAwaiting(_ call: UserCall, _ slot: LinkSlot, _ error: HostError, at now: Instant) -> Bool {
        guard let index = links[slot.index].awaitingReadiness.firstIndex(where: { $0.call == call }) else {
            return false
        }
        links[slot.index].awaitingReadiness.remove(at: index)
        end(call, .failure(error))
        release(slot, for: call.user, at: now)
        return true
    }

    /// The first deadline of a call that wants a link, whether or not the link exists yet.
    var nextConnectDeadline: Instant? {
        var deadline = connects.nextDeadline
        for index in links.indices where links[index].isInUse && !links[index].readiness.isReady {
            for wanted in links[index].awaitingReadiness { deadline = earliest(deadline, wanted.deadline) }
        }
        return deadline
    }

    mutating func linkBegan(_ link: LinkIdentifier, _ attempt: ConnectionAttempt?, at now: Instant) {
        work = .any
        guard let information = host.information(of: link) else {
            // The link has already ended. `disconnected` follows.
            if let attempt { connectionFailed(attempt, .disconnected(.unknown), at: now) }
            return
        }
        let slot = LinkSlot(index: Int(link.slot))
        var record = LinkRecord(identifier: link, peer: information.peer, role: information.role, beginning: now)
        record.mtu = information.mtu
        record.preparation = LinkPreparation(isChangeWatched: host.watchesServices(of: link))
        while links.count < slot.index {
            var unused = record
            _ = unused.readiness.handle(.ended)
            links.append(unused)
        }
        if slot.index == links.count { links.append(record) } else { links[slot.index] = record }
        _ = connects.remove(attempt)
        tellAll(.linkBegan(link, information))
        tellAll(.sendCredit(link, Self.sendCredit))
        if information.role == .central {
            // The host exchanges the MTU automatically. This operation ends with that exchange.
            start(.exchangeMTU(clientRxMTU: host.configuration.preferredMTU), for: .readiness, slot, at: now)
        }
        let peer = host.lastingPeer(of: information.peer)
        let wanted = connects.removeAll { $0.peer == peer && $0.isActive }
        for one in wanted { hold(slot, for: one) }
        // The calls may have been cancelled at the last moment.
        if wanted.isEmpty, information.role == .central { disconnectIfUnused(slot, at: now) }
        reconcileConnecting(at: now)
    }

    /// The ATT_MTU exchange has ended, successfully or not.
    mutating func exchangeIsOver(_ slot: LinkSlot) {
        // Users also wait until the link is encrypted.
        _ = links[slot.index].readiness.handle(.exchangeOver)
        finishReadiness(slot)
    }

    /// Gives the waiting users their link. A bonded peer receives no requests before the link is encrypted.
    mutating func finishReadiness(_ slot: LinkSlot) {
        guard links[slot.index].readiness.awaitsProtection, !host.isSecurityPending(on: links[slot.index].identifier),
            // If the link ended during pairing, nothing is pending either, but the end of the link follows.
            host.hasLink(links[slot.index].identifier)
        else { return }
        if links[slot.index].readiness.handle(.protectionSettled) { giveLink(slot) }
    }

    private mutating func giveLink(_ slot: LinkSlot) {
        let waiting = links[slot.index].awaitingReadiness
        links[slot.index].awaitingReadiness = []
        for wanted in waiting { end(wanted.call, .success(.link(links[slot.index].identifier))) }
    }

    mutating func linkEnded(_ link: LinkIdentifier, _ reason: DisconnectReason, at now: Instant) {
        guard let slot = slot(of: link) else { return }
        var record = links[slot.index]
        _ = links[slot.index].readiness.handle(.ended)
        // If this device or its adapter ended the link, that says nothing about the peer.
        if !record.readiness.isEnding, reason != .adapterReset, reason != .adapterRemoved {
            shortLivedLinks.linkEnded(with: host.lastingPeer(of: record.peer), after: record.beginning, at: now)
        }
        let reason = record.endReason ?? reason
        let error: HostError = reason == .adapterRemoved ? .adapterRemoved : .disconnected(reason)
        for call in record.scheduler.end() { end(call, .failure(error)) }
        keepAttributes(of: record)
        for opening in record.channelOpenings { end(opening.request.call, .failure(error)) }
        for reconfiguration in record.reconfigurations { end(reconfiguration.call, .failure(error)) }
        perform(record.security.handle(.ended(error)), slot, at: now)
        for request in record.requests { end(request.call, .failure(error)) }
        for effect in record.subscriptions.ended(error) {
            if case .end(let call, let result) = effect { end(call, result) }
        }
        for entry in record.indications.all { end(entry.call, .failure(error)) }
        for (handle, configuration) in record.peerSubscriptions.all {
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

    // MARK: - Releasing a link

    /// Releases a link for a user, with its subscriptions there. Values that the user has not processed no longer hold
    /// back other users.
    mutating func release(_ slot: LinkSlot, for user: UserID, at now: Instant) {
        resumeReceiving(slot, for: user)
        stopPowerReports(slot, where: { $0.user == user }, at: now)
        let isHolder = links[slot.index].holders.contains(user)
        links[slot.index].holders.removeAll { $0 == user }
        let waiting = links[slot.index].awaitingReadiness.filter { $0.call.user == user }
        links[slot.index].awaitingReadiness.removeAll { $0.call.user == user }
        for wanted in waiting { end(wanted.call, .failure(.cancelled)) }
        if isHolder { disconnectIfUnused(slot, at: now) }
        dropSubscriptions(of: user, slot, at: now)
    }

    private mutating func disconnectIfUnused(_ slot: LinkSlot, at now: Instant) {
        guard links[slot.index].holders.isEmpty, links[slot.index].role == .central else { return }
        beginDisconnecting(slot, at: now)
    }

    mutating func disconnect(_ call: UserCall, _ slot: LinkSlot, _ reason: DisconnectReason?, at now: Instant) {
        links[slot.index].endReason = links[slot.index].endReason ?? reason
        if call.token != .none { links[slot.index].awaitingEnd.append(call) }
        beginDisconnecting(slot, at: now)
    }

    private mutating func beginDisconnecting(_ slot: LinkSlot, at now: Instant) {
        _ = links[slot.index].readiness.handle(.endRequested)
        // This fails only if the link has ended, which is reported next.
        try? host.disconnect(links[slot.index].identifier, at: now)
    }

    // MARK: - Receiving

    /// Holds back values, because a user is falling behind with the values of a link.
    mutating func holdReceiving(_ slot: LinkSlot, for user: UserID) {
        guard !links[slot.index].receivingHolds.contains(user) else { return }
        links[slot.index].receivingHolds.append(user)
        host.holdReceiving(of: links[slot.index].identifier)
    }

    mutating func resumeReceiving(_ slot: LinkSlot, for user: UserID) {
        guard let index = links[slot.index].receivingHolds.firstIndex(of: user) else { return }
        links[slot.index].receivingHolds.remove(at: index)
        if links[slot.index].receivingHolds.isEmpty { host.resumeReceiving(of: links[slot.index].identifier) }
    }
}
