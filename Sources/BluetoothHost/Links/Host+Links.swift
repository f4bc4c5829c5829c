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
        guard let slot = links.slot(of: link) else { return nil }
        return links.at[slot.index].information
    }

    /// Whether a link exists.
    package func hasLink(_ link: LinkIdentifier) -> Bool { links.slot(of: link) != nil }

    /// The ATT_MTU of a link's fixed bearer; the default if there is no such link. Asked for every value, so that the rest of a
    /// link's information is left alone.
    package func mtu(of link: LinkIdentifier) -> Int {
        guard let slot = links.slot(of: link) else { return ATTBearer.defaultMTU }
        return links.at[slot.index].endpoint.bearer(of: .first)?.mtu ?? ATTBearer.defaultMTU
    }

    /// The links that have been reported as connected.
    public var connectedLinks: [LinkIdentifier] {
        links.used.compactMap { links.at[$0.index].life.isAnnounced ? links.at[$0.index].identifier : nil }
    }

    /// Ends a link; `HostEvent.Link.disconnected` will follow.
    public mutating func disconnect(
        _ link: LinkIdentifier, reason: HCIStatus = .remoteUserTerminatedConnection, at now: Instant
    ) throws(HostError) {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        close(slot, .requested, reason: reason, at: now)
    }

    /// Asks the controller how strongly it receives the peer; `HostEvent.Link.rssiRead` or `.requestFailed` will follow.
    public mutating func readRSSI(of link: LinkIdentifier, at now: Instant) throws(HostError) -> RequestIdentifier {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        let request = makeRequest()
        let command = ReadRSSI(connectionHandle: links.at[slot.index].handle)
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
            dropCommands(for: connection.handle, at: now)
            removeLink(old, reason: .unspecifiedError, at: now)
            pump()
        }
        switch connection.role {
        case .central:
            let wasCancelling = initiator.isCancelling
            let peer = peers.peer(at: connection.address)
            if let attempt = initiator.connectionMade(with: peer, in: peers, at: now) {
                if !add(connection, attempt, at: now) {
                    perform([attempt.failed(.busy)], at: now)
                    send(Disconnect(connectionHandle: connection.handle), for: .none, at: now)
                }
            } else {
                // One that was called off may come about all the same.
                if wasCancelling {
                    turnAway(connection, at: now)
                } else {
                    handle(.connectionUnexpected, of: connection, at: now)
                }
            }
        case .peripheral:
            if isIdentityForbidden(connection.address) {
                handle(.identityAddressUsed, of: connection, at: now)
            } else if !advertiser.acceptsConnections, !synchronizer.acceptsConnections {
                turnAway(connection, at: now)
            } else if !add(connection, nil, at: now) {
                send(Disconnect(connectionHandle: connection.handle), for: .none, at: now)
            }
            // Only now is it known whether there is room for yet another peer.
            peerConnected(true, at: now)
        }
        advanceConnecting(at: now)
    }

    /// Ends a link that nobody wants any more. It is remembered until it has ended: a controller has no second one to the
    /// same peer.
    mutating func turnAway(_ connection: NewConnection, at now: Instant) {
        if let slot = insert(connection, LinkLife(nil, establishedUntil: now), at: now) {
            dismiss(slot, at: now)
        } else {
            send(Disconnect(connectionHandle: connection.handle), for: .none, at: now)
        }
    }

    /// False where there is no room for another link.
    private mutating func add(
        _ connection: NewConnection, _ attempt: Initiator.Attempt?, at now: Instant
    ) -> Bool {
        let asksPeer = canReadRemoteFeatures(as: connection.role)
        // A link is lost within six connection intervals where the peer never answers (Vol 6, Part B, 4.5.2). Where the
        // peer can be asked something, its answer says more than the time, which is then only there for a controller
        // that loses the answer.
        let silence = min(connection.parameters.interval, .seconds(4)) * 7
        let timeout = asksPeer ? max(silence, .seconds(2)) : silence
        let life = LinkLife(attempt, establishedUntil: now.advanced(by: timeout))
        guard insert(connection, life, at: now) != nil else { return false }
        if asksPeer {
            send(LEReadRemoteFeatures(connectionHandle: connection.handle), for: .none, at: now)
        }
        return true
    }

    private mutating func insert(
        _ connection: NewConnection, _ life: LinkLife, at now: Instant
    ) -> LinkSlot? {
        let peer = peers.peer(at: connection.address)
        let localAddress =
            connection.localAddress ?? privacy.ownAddress ?? controller?.address ?? connection.address
        let configuration = configuration
        let slot = links.insert(connection.handle) { identifier in
            Link(
                identifier: identifier, connection: connection, localAddress: localAddress, peer: peer, life: life,
                at: now, configuration: configuration)
        }
        if let slot {
            settleSecurity(slot, at: now)
            flow.addLink(connection.handle)
            // The handle may be that of a link that was given up, whose buffers are free now.
            pump()
            // With more links, each has a smaller share.
            returnCredits()
        }
        return slot
    }

    private func canReadRemoteFeatures(as role: LinkRole) -> Bool {
        guard let controller, controller.commands.contains(.leReadRemoteFeatures) else { return false }
        return role == .central || controller.features.contains(.peripheralInitiatedFeaturesExchange)
    }

    /// A packet was received from the peer: the link is established, and reported.
    mutating func establish(_ slot: LinkSlot, at now: Instant) {
        let (hasOpened, attempt) = links.at[slot.index].life.establish()
        guard hasOpened else { return }
        endAttempts(at: links.at[slot.index].lastingPeer, at: now)
        events.append(.link(links.at[slot.index].identifier, .connected(attempt)))
        guard links.at[slot.index].role == .central else { return }
        // What a bonded peer sends is not believed before that.
        encryptWithBond(slot, at: now)
        beginMTUExchange(slot, at: now)
    }

    /// Ends the attempts at a peer that is linked by now. Two links to one device are more than controllers allow.
    mutating func endAttempts(at peer: PeerID, at now: Instant) {
        var isChanged = false
        while let attempt = initiator.take(peer, in: peers) {
            perform([attempt.failed(.alreadyConnected)], at: now)
            isChanged = true
        }
        if isChanged { advanceConnecting(at: now) }
    }

    // MARK: Going

    /// Sends Disconnect, unless that was done before.
    mutating func close(
        _ slot: LinkSlot, _ closing: LinkLife.Closing, reason: HCIStatus? = nil, at now: Instant
    ) {
        let supervisionTimeout = links.at[slot.index].parameters.supervisionTimeout
        guard
            let reason = links.at[slot.index].life.close(
                closing, reason: reason, supervisionTimeout: supervisionTimeout, at: now)
        else { return }
        send(
            Disconnect(connectionHandle: links.at[slot.index].handle, reason: reason),
            for: .disconnect(links.at[slot.index].identifier), at: now)
    }

    /// Ends a link that has never been reported.
    mutating func dismiss(_ slot: LinkSlot, at now: Instant) { close(slot, .requested, at: now) }

    /// Command Status of Disconnect.
    mutating func disconnectAnswered(_ status: HCIStatus, _ link: LinkIdentifier, at now: Instant) {
        // Any other problem may pass; a link the controller does not have will not be reported gone.
        guard status == .unknownConnectionIdentifier, let slot = links.slot(of: link) else { return }
        flow.removeLink(links.at[slot.index].handle)
        removeLink(slot, reason: .connectionTerminatedByLocalHost, at: now)
        linkRemoved(at: now)
    }

    /// The link is gone: everything that was pending on it ends, once. The caller, who knows whether the controller has
    /// forgotten the link's packets, is to inform `flow`.
    mutating func removeLink(_ slot: LinkSlot, reason: HCIStatus, at now: Instant) {
        var link = links.remove(slot)
        if !link.sendQueue.isEmpty { waitingLinks -= 1 }
        dropPackets(of: link.handle)
        if link.isShortLived(at: now), reason != .hardwareFailure {
            handle(.linkShortLived, at: now)
            if link.role == .peripheral { advertiser.linkWasShortLived(at: now) }
        }
        switch link.life.ending(reason) {
        case .unknown: return
        case .notEstablished(let attempt):
            // With a short supervision timeout, a link may be lost before it is found never to have been established.
            if reason == .connectionFailedToBeEstablished || reason == .connectionTimeout {
                perform(initiator.retry(attempt, limit: configuration.establishmentRetries), at: now)
            } else {
                // The peer has turned this device away at once.
                perform([attempt.failed(.disconnected(DisconnectReason(reason)))], at: now)
            }
        case .disconnected(let reason):
            for request in purposes.removeRequests(of: link.identifier) + link.pendingRequests {
                events.append(.link(link.identifier, .requestFailed(request, .noSuchLink)))
            }
            updateBond(of: link)
            endPairing(of: &link)
            endChannels(of: &link)
            link.endpoint.closeAll()
            announce(
                link.endpoint.events, of: link.identifier, except: link.automaticExchange, link.negotiation.operation)
            events.append(.link(link.identifier, .disconnected(reason)))
        }
    }

    /// Takes back what has not gone to the controller yet: another link may have the same handle by then.
    private mutating func dropPackets(of handle: ConnectionHandle) {
        outbox.removeAll { packet in
            packet.count > 2 && packet[0] == HCIPacketType.aclData.rawValue
                && ConnectionHandle(rawValue: UInt16(packet[1]) | UInt16(packet[2] & 0x0F) << 8) == handle
        }
    }

    /// After a link has gone: its buffers, its place in the controller and the air are free for others.
    mutating func linkRemoved(at now: Instant) {
        arbiter.advertisingMayWork()
        advanceActivities(at: now)
        pump()
        pumpChannels(at: now)
    }

    // MARK: Time

    mutating func fireLink(_ slot: LinkSlot, at now: Instant) {
        if let deadline = links.at[slot.index].life.deadline, deadline <= now {
            switch links.at[slot.index].life.phase {
            case .closing, .dismissed: return giveUpLink(slot, at: now)
            case .establishing: establish(slot, at: now)
            case .overwhelmed: handle(.sendQueueOverflow, of: slot, at: now)
            case .open: break
            }
        }
        advance(slot, at: now) { $0.parameterNegotiation.handle(.timePassed, $1) }
        advance(slot, at: now) { $0.phyNegotiation.handle(.timePassed, $1) }
        advance(slot, at: now) { $0.power.readings.handle(.timePassed, $1) }
        firePairing(slot, at: now)
        while let channel = links.at[slot.index].endpoint.dueChannel(at: now) {
            openFrame(on: channel)
            let outcome = links.at[slot.index].endpoint.fire(channel, server: server, at: now, into: &outbox.writer)
            closeFrame(slot, on: channel)
            handle(outcome, Span<UInt8>(), slot, on: channel, at: now)
        }
        if let deadline = links.at[slot.index].negotiation.deadline, deadline <= now {
            negotiateBearers(.timePassed, slot, at: now)
        }
        signallingStepped(links.at[slot.index].signalling.fire(at: now), slot, at: now)
        settleChannels(slot, at: now)
    }

    /// The controller never said that the link is gone. It has had the time to notice.
    private mutating func giveUpLink(_ slot: LinkSlot, at now: Instant) {
        let hasBuffers = flow.abandonLink(links.at[slot.index].handle)
        removeLink(slot, reason: .connectionTerminatedByLocalHost, at: now)
        return hasBuffers ? linkRemoved(at: now) : recover(from: .commandTimedOut(.disconnect), at: now)
    }
}
