import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// What the adapter keeps for one link.
struct LinkState {
    // No `Connection`: that would keep the adapter alive, which would keep the link alive.
    let peer: DeviceAddress
    let role: LinkRole
    /// Who listens to the values of which characteristic.
    var listeners: [AttributeHandle: [Int: AsyncQueue<[UInt8]>]] = [:]
    /// The characteristics of ours that the peer is subscribed to, by the handles of their values.
    var subscriptions: Set<AttributeHandle> = []
    /// The Client Characteristic Configuration descriptors found so far, by the handle of the value.
    var configurations: [AttributeHandle: AttributeHandle] = [:]
    var indications = IndicationTurns()
    var sessions = ClientSessions()

    func end(_ error: BluetoothError) {
        for queue in listeners.values.flatMap(\.values) { queue.finish(error) }
        sessions.finish(error)
    }
}

extension Adapter {
    /// Connects to a peer and exchanges the ATT_MTU.
    ///
    /// A connection that the controller reports and that then fails to be established is tried again, unseen, as long as
    /// there is time.
    ///
    /// - Parameters:
    ///   - peer: its address, as a sighting gives it.
    ///   - timeout: how long to try; nil tries until the task is cancelled.
    /// - Throws: `.timedOut`, `.cancelled`, or why the controller refused.
    public func connect(
        to peer: DeviceAddress, timeout: Duration? = .seconds(30)
    ) async throws(BluetoothError) -> Connection {
        try checkOpen()
        let attempt: ConnectionAttempt
        do throws(HostError) {
            attempt = try host.connect(to: PeerID(peer), timeout: timeout, at: now)
        } catch {
            throw .host(error)
        }
        let answer = try await wait(for: .connection(attempt)) { adapter in
            adapter.host.cancelConnecting(attempt, at: adapter.now)
        }
        guard case .link(let link) = answer else { throw .disconnected(.unknown) }
        try checkOpen(link)
        guard let connection = connection(of: link) else { throw .disconnected(.unknown) }
        // The host exchanges the MTU by itself; this one is done when that is.
        do throws(BluetoothError) {
            _ = try await perform(.exchangeMTU(clientRxMTU: host.configuration.preferredMTU), on: link)
        } catch .att {
            // A server without the request keeps to 23 octets.
        } catch {
            disconnect(link)
            throw error
        }
        return connection
    }

    /// The connections there are, in either role.
    public var connections: [Connection] { host.connectedLinks.compactMap { connection(of: $0) } }

    func connection(of link: LinkIdentifier) -> Connection? {
        links[link].map { Connection(adapter: self, link: link, peer: $0.peer, role: $0.role) }
    }

    func disconnect(_ link: LinkIdentifier) {
        try? host.disconnect(link, at: now)
    }

    /// Ends a link and waits until it has ended.
    func disconnectAndWait(_ link: LinkIdentifier) async throws(BluetoothError) {
        guard links[link] != nil else { return }
        disconnect(link)
        try await wait(for: .disconnection(link, makeNumber()))
    }

    /// Waits until a link has ended, whoever ends it.
    func waitForEnd(of link: LinkIdentifier) async throws(BluetoothError) -> DisconnectReason {
        if let reason = endings[link] { return reason }
        try checkOpen(link)
        guard case .reason(let reason) = try await wait(for: .disconnection(link, makeNumber())) else {
            return .unknown
        }
        return reason
    }

    func linkConnected(_ link: LinkIdentifier, _ attempt: ConnectionAttempt?) {
        guard let information = host.information(of: link) else {
            // It has ended since: `disconnected` follows, and tells why.
            lostAttempts[link] = attempt
            return
        }
        links[link] = LinkState(peer: information.address, role: information.role)
        if let attempt { resume(.connection(attempt), with: .success(.link(link))) }
        if let connection = connection(of: link) { publish(.connected(connection)) }
    }

    func linkDisconnected(_ link: LinkIdentifier, _ reason: DisconnectReason) {
        if let attempt = lostAttempts.removeValue(forKey: link) {
            resume(.connection(attempt), with: .failure(reason.error))
        }
        guard let connection = connection(of: link), let state = links.removeValue(forKey: link) else { return }
        endings.insert(reason, for: link)
        resumeAll(
            where: {
                if case .disconnection(link, _) = $0 { true } else { false }
            }, with: .success(.reason(reason)))
        resumeAll(where: { $0.link == link }, with: .failure(reason.error))
        state.end(reason.error)
        for handle in state.subscriptions { unsubscribed(connection, from: handle) }
        publish(.disconnected(connection, reason))
    }
}
