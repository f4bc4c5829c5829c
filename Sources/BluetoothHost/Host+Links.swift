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
        guard let slot = slot(of: link), let link = links[slot] else { return nil }
        return LinkInformation(
            role: link.role, peer: link.peer, mtu: link.bearer.mtu, parameters: link.parameters,
            security: link.security)
    }

    /// The links that have been reported as connected.
    public var connectedLinks: [LinkIdentifier] {
        links.compactMap { $0.flatMap { $0.wasAnnounced ? $0.identifier : nil } }
    }

    /// Ends a link; `HostEvent.disconnected` will follow.
    public mutating func disconnect(
        _ link: LinkIdentifier, reason: HCIStatus = .remoteUserTerminatedConnection, at now: Instant
    ) throws(HostError) {
        guard let slot = slot(of: link) else { throw .noSuchLink }
        sendDisconnect(slot, reason: reason, at: now)
    }

    /// Asks the controller how strongly it hears the peer; `HostEvent.readRSSI` will follow.
    public mutating func readRSSI(of link: LinkIdentifier, at now: Instant) throws(HostError) -> RequestIdentifier {
        guard let slot = slot(of: link), let handle = links[slot]?.handle else { throw .noSuchLink }
        let request = makeRequest()
        guard send(ReadRSSI(connectionHandle: handle), for: .readRSSI(request), at: now) else { throw .busy }
        return request
    }

    // MARK: Slots

    /// The slot of a link that is still there.
    @inline(__always)
    func slot(of link: LinkIdentifier) -> Int? {
        let slot = Int(link.slot)
        guard slot < links.count, links[slot]?.identifier == link else { return nil }
        return slot
    }

    /// The slot of the link with a connection handle.
    @inline(__always)
    func slot(of handle: ConnectionHandle) -> Int? {
        let index = Int(handle.rawValue)
        guard index < slotOfHandle.count else { return nil }
        let slot = slotOfHandle[index]
        return slot == Self.noSlot ? nil : Int(slot)
    }

    mutating func makeRequest() -> RequestIdentifier {
        defer { nextRequest &+= 1 }
        return RequestIdentifier(number: nextRequest)
    }

    // MARK: Coming

    /// LE Connection Complete, of either form, with status Success.
    mutating func connectionMade(_ connection: NewConnection, at now: Instant) {
        // A handle that is in use cannot be a new connection's: the controller lost track of the old one (H5).
        if let old = slot(of: connection.handle) { removeLink(old, reason: .unspecifiedError, at: now) }
        var attempt: Initiator.Attempt?
        let isExpected: Bool
        switch connection.role {
        case .central:
            attempt = initiator.take(connection.peer)
            isExpected = attempt != nil
            initiator.state = .idle
        case .peripheral:
            isExpected = advertiser.isActive
            advertisingEndedByConnection(at: now)
        }
        if isExpected, let slot = freeSlot() {
            add(connection, attempt, in: slot, at: now)
        } else {
            if let attempt { events.append(.connectionFailed(attempt.identifier, .busy)) }
            send(Disconnect(connectionHandle: connection.handle), for: .none, at: now)
        }
        reconcileConnecting(at: now)
    }

    private mutating func add(
        _ connection: NewConnection, _ attempt: Initiator.Attempt?, in slot: Int, at now: Instant
    ) {
        let asksPeer = canReadRemoteFeatures(as: connection.role)
        // A link is lost within six connection intervals where the peer never answers (Vol 6, Part B, 4.5.2). Where the peer
        // can be asked something, its answer says more than the time, which is then only there for a controller that
        // loses the answer.
        let silence = connection.parameters.interval * 7
        let patience = asksPeer ? max(silence, .seconds(2)) : silence
        generation &+= 1
        slotOfHandle[Int(connection.handle.rawValue)] = UInt8(slot)
        links[slot] = Link(
            identifier: LinkIdentifier(slot: UInt16(slot), generation: generation), connection: connection,
            attempt: attempt, establishmentDeadline: now.advanced(by: patience), configuration: configuration)
        flow.addLink(connection.handle)
        if asksPeer {
            send(LEReadRemoteFeatures(connectionHandle: connection.handle), for: .none, at: now)
        }
    }

    private func canReadRemoteFeatures(as role: LinkRole) -> Bool {
        guard let controller, controller.commands.contains(.leReadRemoteFeatures) else { return false }
        return role == .central || controller.features.contains(.peripheralInitiatedFeaturesExchange)
    }

    private mutating func freeSlot() -> Int? {
        if let slot = links.firstIndex(where: { $0 == nil }) { return slot }
        guard links.count < min(configuration.maximumLinks, Int(Self.noSlot)) else { return nil }
        links.append(nil)
        return links.count - 1
    }

    /// The peer was heard: the link is one, and is told.
    mutating func establish(_ slot: Int, at now: Instant) {
        guard let link = links[slot], !link.isEstablished else { return }
        links[slot]?.establishmentDeadline = nil
        // One that was called off before it was heard is on its way out, unseen.
        guard link.disconnectDeadline == nil else { return }
        links[slot]?.wasAnnounced = true
        events.append(.connected(link.identifier, link.attempt?.identifier))
        if link.role == .central { beginMTUExchange(slot, at: now) }
    }

    // MARK: Going

    mutating func sendDisconnect(_ slot: Int, reason: HCIStatus, at now: Instant) {
        guard let link = links[slot], link.disconnectDeadline == nil else { return }
        // The peer may be out of range: the controller then needs the supervision timeout to notice.
        let patience = link.parameters.supervisionTimeout + .seconds(5)
        links[slot]?.disconnectDeadline = now.advanced(by: patience)
        send(Disconnect(connectionHandle: link.handle, reason: reason), for: .none, at: now)
    }

    /// The link is gone: everything that waited for it ends, once.
    mutating func removeLink(_ slot: Int, reason: HCIStatus, at now: Instant) {
        guard var link = links[slot] else { return }
        links[slot] = nil
        slotOfHandle[Int(link.handle.rawValue)] = Self.noSlot
        if !link.sendQueue.isEmpty { waitingLinks -= 1 }
        flow.removeLink(link.handle)
        for request in link.updates { events.append(.requestFailed(request, .noSuchLink)) }
        if link.wasAnnounced {
            link.client.failAll(.disconnected)
            announce(link.client.events, of: link.identifier, except: link.automaticExchange)
            events.append(.disconnected(link.identifier, link.disconnectReason ?? reason))
        } else if let attempt = link.attempt {
            if reason == .connectionFailedToBeEstablished {
                retry(attempt)
            } else {
                events.append(.connectionFailed(attempt.identifier, .controller(reason)))
            }
        }
    }

    /// After a link has gone: its buffers, its place in the controller and the air are free for others.
    mutating func linkRemoved(at now: Instant) {
        advertiser.isPaused = false
        reconcile(at: now)
        pump()
    }

    mutating func dropAllLinks(_ reason: HCIStatus, at now: Instant) {
        for slot in links.indices { removeLink(slot, reason: reason, at: now) }
    }
}
