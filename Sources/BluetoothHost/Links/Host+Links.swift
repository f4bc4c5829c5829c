import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP

/// The life of links.
extension Host {
    // MARK: Calls

    /// What is known of a link; nil when it is gone.
    public func information(of link: LinkIdentifier) -> LinkInformation? {
        links.slot(of: link).map { links.at[$0].information }
    }

    /// The links that have been reported as connected.
    public var connectedLinks: [LinkIdentifier] {
        links.used.compactMap { links.at[$0].wasAnnounced ? links.at[$0].identifier : nil }
    }

    /// Ends a link; `HostEvent.disconnected` will follow.
    public mutating func disconnect(
        _ link: LinkIdentifier, reason: HCIStatus = .remoteUserTerminatedConnection, at now: Instant
    ) throws(HostError) {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        sendDisconnect(slot, reason: reason, at: now)
    }

    /// Asks the controller how strongly it hears the peer; `HostEvent.rssiRead` or `.requestFailed` will follow.
    public mutating func readRSSI(of link: LinkIdentifier, at now: Instant) throws(HostError) -> RequestIdentifier {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        let request = makeRequest()
        let command = ReadRSSI(connectionHandle: links.at[slot].handle)
        guard sendOptional(command, for: .readRSSI(request, link), at: now) else { throw .busy }
        return request
    }

    mutating func makeRequest() -> RequestIdentifier {
        defer { nextRequest &+= 1 }
        return RequestIdentifier(number: nextRequest)
    }

    // MARK: Coming

    /// LE Connection Complete, of either form, with status Success.
    mutating func connectionMade(_ connection: NewConnection, at now: Instant) {
        // A handle that is in use cannot be a new connection's: the controller lost track of the old one.
        if let old = links.slot(of: connection.handle) {
            flow.removeLink(connection.handle)
            removeLink(old, reason: .unspecifiedError, at: now)
            pump()
        }
        var attempt: Initiator.Attempt?
        let isExpected: Bool
        switch connection.role {
        case .central:
            attempt = initiator.take(peers.peer(at: connection.address), in: peers)
            isExpected = attempt != nil
            initiator.state = .idle
        case .peripheral:
            isExpected = advertiser.acceptsConnections
        }
        if !isExpected {
            turnAway(connection, at: now)
        } else if !add(connection, attempt, at: now) {
            if let attempt { events.append(.controller(.connectionFailed(attempt.identifier, .busy))) }
            send(Disconnect(connectionHandle: connection.handle), for: .none, at: now)
        }
        // Only now, when it shows whether there is room for yet another peer.
        if connection.role == .peripheral { advertisingEndedByConnection(at: now) }
        reconcileConnecting(at: now)
    }

    /// Ends a link that nobody wants, or not any more. It is remembered until it has ended: a controller has no second one
    /// to the same peer.
    private mutating func turnAway(_ connection: NewConnection, at now: Instant) {
        let peer = peers.peer(at: connection.address)
        let slot = links.insert(connection.handle) { identifier in
            // The time to be heard is over; what counts from here on is the time to end.
            Link(
                identifier: identifier, connection: connection, peer: peer, attempt: nil, establishmentDeadline: now,
                configuration: configuration)
        }
        guard let slot else {
            send(Disconnect(connectionHandle: connection.handle), for: .none, at: now)
            return
        }
        flow.addLink(connection.handle)
        sendDisconnect(slot, reason: .remoteUserTerminatedConnection, at: now)
    }

    /// False where there is no room for another link.
    private mutating func add(
        _ connection: NewConnection, _ attempt: Initiator.Attempt?, at now: Instant
    ) -> Bool {
        let peer = peers.peer(at: connection.address)
        let asksPeer = canReadRemoteFeatures(as: connection.role)
        // A link is lost within six connection intervals where the peer never answers (Vol 6, Part B, 4.5.2). Where the
        // peer can be asked something, its answer says more than the time, which is then only there for a controller
        // that loses the answer.
        let silence = min(connection.parameters.interval, .seconds(4)) * 7
        let patience = asksPeer ? max(silence, .seconds(2)) : silence
        let slot = links.insert(connection.handle) { identifier in
            Link(
                identifier: identifier, connection: connection, peer: peer, attempt: attempt,
                establishmentDeadline: now.advanced(by: patience), configuration: configuration)
        }
        guard slot != nil else { return false }
        flow.addLink(connection.handle)
        if asksPeer {
            send(LEReadRemoteFeatures(connectionHandle: connection.handle), for: .none, at: now)
        }
        return true
    }

    private func canReadRemoteFeatures(as role: LinkRole) -> Bool {
        guard let controller, controller.commands.contains(.leReadRemoteFeatures) else { return false }
        return role == .central || controller.features.contains(.peripheralInitiatedFeaturesExchange)
    }

    /// The peer was heard: the link is one, and is told.
    mutating func establish(_ slot: Int, at now: Instant) {
        guard !links.at[slot].isEstablished else { return }
        links.at[slot].establishmentDeadline = nil
        // One that was called off before it was heard is on its way out, unseen.
        guard links.at[slot].disconnectDeadline == nil else { return }
        links.at[slot].wasAnnounced = true
        if links.at[slot].role == .peripheral, let attempt = initiator.take(links.at[slot].lastingPeer, in: peers) {
            // The peer was faster. Two links to one device are more than controllers allow.
            events.append(.controller(.connectionFailed(attempt.identifier, .alreadyConnected)))
            reconcileConnecting(at: now)
        }
        events.append(.link(links.at[slot].identifier, .connected(links.at[slot].attempt?.identifier)))
        if links.at[slot].role == .central { beginMTUExchange(slot, at: now) }
    }

    // MARK: Going

    mutating func sendDisconnect(_ slot: Int, reason: HCIStatus, at now: Instant) {
        guard links.at[slot].disconnectDeadline == nil else { return }
        // The peer may be out of range: the controller then needs the supervision timeout to notice.
        let patience = min(links.at[slot].parameters.supervisionTimeout, .seconds(32)) + .seconds(5)
        links.at[slot].disconnectDeadline = now.advanced(by: patience)
        send(
            Disconnect(connectionHandle: links.at[slot].handle, reason: reason),
            for: .disconnect(links.at[slot].identifier), at: now)
    }

    /// Command Status of Disconnect.
    mutating func disconnectAnswered(_ status: HCIStatus, _ link: LinkIdentifier, at now: Instant) {
        // Whatever else is wrong may pass; a link the controller does not have will not be reported gone.
        guard status == .unknownConnectionIdentifier, let slot = links.slot(of: link) else { return }
        flow.removeLink(links.at[slot].handle)
        removeLink(slot, reason: .connectionTerminatedByLocalHost, at: now)
        linkRemoved(at: now)
    }

    /// The link is gone: everything that waited for it ends, once. What the controller has of it is counted on by `flow`,
    /// which is to be told by the caller, who knows whether the controller has forgotten it.
    mutating func removeLink(_ slot: Int, reason: HCIStatus, at now: Instant) {
        var link = links.remove(slot)
        if !link.sendQueue.isEmpty { waitingLinks -= 1 }
        if let update = link.update {
            events.append(.link(link.identifier, .requestFailed(update.request, .noSuchLink)))
        }
        if link.wasAnnounced {
            link.endpoint.closeAll()
            announce(link.endpoint.events, of: link.identifier, except: link.automaticExchange)
            events.append(.link(link.identifier, .disconnected(link.disconnectReason ?? reason)))
        } else if let attempt = link.attempt {
            // With a short supervision timeout, a peer that is not heard is lost before it is found never to have
            // answered.
            if reason == .connectionFailedToBeEstablished || reason == .connectionTimeout {
                retry(attempt)
            } else {
                events.append(.controller(.connectionFailed(attempt.identifier, .controller(reason))))
            }
        }
    }

    /// After a link has gone: its buffers, its place in the controller and the air are free for others.
    mutating func linkRemoved(at now: Instant) {
        advertiser.isPaused = false
        reconcile(at: now)
        pump()
    }
}
