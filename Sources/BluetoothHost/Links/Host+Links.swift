import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP

/// The lifecycle of links.
extension Host {
    // MARK: Calls

    /// The properties of a link; nil if it has ended.
    public func information(of link: LinkIdentifier) -> LinkInformation? {
        guard let slot = links.slot(of: link) else { return nil }
        return links.at[slot.index].information
    }

    /// Whether a link exists.
    package func hasLink(_ link: LinkIdentifier) -> Bool { links.slot(of: link) != nil }

    /// The ATT_MTU of a link's fixed bearer; the default if the link does not exist. This is read for every value, so
    /// it does not assemble the other properties of the link, and it is mutating, because it would copy some of them.
    package mutating func mtu(of link: LinkIdentifier) -> Int {
        guard let slot = links.slot(of: link) else { return ATTBearer.defaultMTU }
        return links.at[slot.index].mtu
    }

    /// The links that have been reported as connected.
    public var connectedLinks: [LinkIdentifier] {
        links.used.compactMap { links.at[$0.index].life.isAnnounced ? links.at[$0.index].identifier : nil }
    }

    /// Ends a link. `HostEvent.Link.disconnected` will follow.
    public mutating func disconnect(
        _ link: LinkIdentifier, reason: HCIStatus = .remoteUserTerminatedConnection, at now: Instant
    ) throws(HostError) {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        close(slot, .requested, reason: reason, at: now)
    }

    /// Reads the strength of the signal that the controller receives from the peer. `HostEvent.Link.rssiRead` or
    /// `.requestFailed` will follow.
    public mutating func readRSSI(of link: LinkIdentifier, at now: Instant) throws(HostError) -> RequestIdentifier {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        let request = purposes.makeRequest()
        let command = ReadRSSI(connectionHandle: links.at[slot.index].handle)
        guard sendOptional(command, for: .readRSSI(request, link), at: now) else { throw .busy }
        return request
    }

    // MARK: Connecting

    /// Handles LE Connection Complete, of either version, with status Success.
    mutating func connectionMade(_ connection: NewConnection, at now: Instant) {
        // A new connection cannot have a handle that is in use, so the controller must have lost the old connection.
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
                // An attempt may succeed although it was cancelled.
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
            // Only now is it known whether there is room for another peer.
            peerConnected(true, at: now)
        }
        advanceConnecting(at: now)
    }

    /// Ends an unwanted link. The host keeps track of it until it has ended, because a controller does not make a
    /// second link to the same peer.
    mutating func turnAway(_ connection: NewConnection, at now: Instant) {
        if let slot = insert(connection, LinkLife(nil, establishedUntil: now), at: now) {
            dismiss(slot, at: now)
        } else {
            send(Disconnect(connectionHandle: connection.handle), for: .none, at: now)
        }
    }

    /// Adds a link. Returns false if there is no room.
    private mutating func add(
        _ connection: NewConnection, _ attempt: Initiator.Attempt?, at now: Instant
    ) -> Bool {
        let asksPeer = canReadRemoteFeatures(as: connection.role)
        // If the peer never answers, a link is lost within six connection intervals (Vol 6, Part B, 4.5.2). If the
        // controller can read the peer's features, the peer's answer proves more than the elapsed time. The timeout
        // then only covers a controller that loses the answer.
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
            // With more links, each one has a smaller share.
            returnCredits()
        }
        return slot
    }

    private func canReadRemoteFeatures(as role: LinkRole) -> Bool {
        guard let controller, controller.commands.contains(.leReadRemoteFeatures) else { return false }
        return role == .central || controller.features.contains(.peripheralInitiatedFeaturesExchange)
    }

    /// Handles the first packet from the peer: the link is established, and reported.
    mutating func establish(_ slot: LinkSlot, at now: Instant) {
        let (hasOpened, attempt) = links.at[slot.index].life.establish()
        guard hasOpened else { return }
        endAttempts(at: links.at[slot.index].lastingPeer, at: now)
        events.append(.link(links.at[slot.index].identifier, .connected(attempt)))
        guard links.at[slot.index].role == .central else { return }
        // Until the link is encrypted, the host ignores values from a bonded peer.
        encryptWithBond(slot, at: now)
        beginMTUExchange(slot, at: now)
    }

    /// Ends attempts to connect to a peer that is linked by now. Controllers do not allow two links to the same device.
    mutating func endAttempts(at peer: PeerID, at now: Instant) {
        var isChanged = false
        while let attempt = initiator.take(peer, in: peers) {
            perform([attempt.failed(.alreadyConnected)], at: now)
            isChanged = true
        }
        if isChanged { advanceConnecting(at: now) }
    }

    // MARK: Disconnecting

    /// Sends Disconnect, unless it was already sent.
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

    /// Ends a link that was never reported.
    mutating func dismiss(_ slot: LinkSlot, at now: Instant) { close(slot, .requested, at: now) }

    /// Handles the Command Status of Disconnect.
    mutating func disconnectAnswered(_ status: HCIStatus, _ link: LinkIdentifier, at now: Instant) {
        // Any other error may be temporary. A link that the controller does not have will never be reported as
        // disconnected.
        guard status == .unknownConnectionIdentifier, let slot = links.slot(of: link) else { return }
        flow.removeLink(links.at[slot.index].handle)
        removeLink(slot, reason: .connectionTerminatedByLocalHost, at: now)
        linkRemoved(at: now)
    }

    /// Removes a link that has ended, and ends everything that was pending on it, once. The caller must update `flow`,
    /// because only the caller knows whether the controller has dropped the link's packets.
    mutating func removeLink(_ slot: LinkSlot, reason: HCIStatus, at now: Instant) {
        var link = links.remove(slot)
        if !link.sendQueue.isEmpty { sendRotation.queueEmptied() }
        dropPackets(of: link.handle)
        if link.isShortLived(at: now), reason != .hardwareFailure {
            handle(.linkShortLived, at: now)
            if link.role == .peripheral { advertiser.linkWasShortLived(at: now) }
        }
        switch link.life.ending(reason) {
        case .unknown: return
        case .notEstablished(let attempt):
            // With a short supervision timeout, a link may be lost before it turns out that it was never established.
            if reason == .connectionFailedToBeEstablished || reason == .connectionTimeout {
                perform(initiator.retry(attempt, limit: configuration.establishmentRetries), at: now)
            } else {
                // The peer has disconnected immediately.
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

    /// Takes back the packets that have not been sent to the controller yet, because a new link may have the same
    /// handle by the time they are sent.
    private mutating func dropPackets(of handle: ConnectionHandle) {
        outbox.removeAll { packet in
            packet.count > 2 && packet[0] == HCIPacketType.aclData.rawValue
                && ConnectionHandle(rawValue: UInt16(packet[1]) | UInt16(packet[2] & 0x0F) << 8) == handle
        }
    }

    /// Continues after a link was removed: its buffers, its place in the controller and its air time are available
    /// again.
    mutating func linkRemoved(at now: Instant) {
        arbiter.advertisingMayWork()
        advanceActivities(at: now)
        pump()
        pumpChannels(at: now)
    }

    // MARK: Time

    mutating func fireLink(_ slot: LinkSlot, at now: Instant) {
        switch links.at[slot.index].life.overdue(at: now) {
        case .report: return giveUpLink(slot, at: now)
        case .firstPacket: establish(slot, at: now)
        case .end: handle(.sendQueueOverflow, of: slot, at: now)
        case nil: break
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

    /// Removes a link whose end the controller has never reported, although it had enough time to notice it.
    private mutating func giveUpLink(_ slot: LinkSlot, at now: Instant) {
        let hasBuffers = flow.abandonLink(links.at[slot.index].handle)
        removeLink(slot, reason: .connectionTerminatedByLocalHost, at: now)
        return hasBuffers ? linkRemoved(at: now) : recover(from: .commandTimedOut(.disconnect), at: now)
    }
}
