import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP

/// Calls to the GATT server, and its events.
extension Host {
    /// Notifies a value to a client that has subscribed to it (Core 5.4, Vol 3, Part G, 4.10.1). Returns false if the
    /// link's send queue is full: nothing was sent, and `HostEvent.Link.readyToSend` will follow.
    public mutating func notify(
        _ handle: AttributeHandle, value: Span<UInt8>, on link: LinkIdentifier
    ) throws(HostError) -> Bool {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        openFrame()
        let route: Link.NotificationRoute
        do throws(GATTServerError) {
            route = try links.at[slot.index].notify(handle, value, from: server, flow.canSend, into: &outbox.writer)
        } catch {
            outbox.rollback()
            throw .server(error)
        }
        guard let remote = route.remote else { return closeWaitingNotification(slot, on: route.bearer) }
        guard route.bearer == .first else {
            closeFrame(slot, to: remote, sduLength: openPayloadCount &- Link.sduHeadroom)
            return true
        }
        guard hasRoom(slot) else {
            outbox.rollback()
            return false
        }
        closeFrame(slot, .attributeProtocol)
        return true
    }

    /// Indicates a value to a client that has subscribed to it. `HostEvent.Server.indicationConfirmed` follows. Returns
    /// false if another indication is unconfirmed. Indications are sent over the fixed channel.
    public mutating func indicate(
        _ handle: AttributeHandle, value: Span<UInt8>, on link: LinkIdentifier, at now: Instant
    ) throws(HostError) -> Bool {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        guard links.at[slot.index].endpoint.bearer(of: .first)?.isIndicationInFlight != true else { return false }
        openFrame()
        do throws(GATTServerError) {
            try links.at[slot.index].endpoint.indicate(
                handle, value: value, from: server, at: now, into: &outbox.writer)
        } catch {
            outbox.rollback()
            throw .server(error)
        }
        closeFrame(slot, .attributeProtocol)
        return true
    }

    /// Answers `HostEvent.Server.readRequested` with the value, starting at the offset in the event.
    public mutating func answer(_ request: ServerRequest, value: Span<UInt8>) throws(HostError) {
        try settle(request) { server, endpoint, writer throws(GATTServerError) in
            try endpoint.answer(request.token, value: value, server: &server, into: &writer)
        }
    }

    /// Accepts the value in `HostEvent.Server.writeRequested`, or the writes in `.executeRequested`.
    public mutating func accept(_ request: ServerRequest) throws(HostError) {
        try settle(request) { server, endpoint, writer throws(GATTServerError) in
            try endpoint.accept(request.token, server: &server, into: &writer)
        }
    }

    /// Answers `HostEvent.Server.authorizationRequested`: the peer may access the attribute in this way until the link
    /// ends.
    public mutating func authorize(_ request: ServerRequest, at now: Instant) throws(HostError) {
        guard let slot = links.slot(of: request.link) else { throw .noSuchLink }
        let released: [GATTHeldPDU]
        do throws(GATTServerError) {
            released = try links.at[slot.index].endpoint.authorize(request.token)
        } catch {
            throw .server(error)
        }
        for held in released {
            openFrame(on: request.token.channel)
            let outcome = links.at[slot.index].endpoint.resume(held, server: &server, into: &outbox.writer)
            closeFrame(slot, on: request.token.channel)
            handle(outcome, held.pdu.span, slot, at: now)
        }
    }

    /// Answers any request with an error.
    public mutating func refuse(
        _ request: ServerRequest, with code: ATTErrorCode, at handle: AttributeHandle? = nil
    ) throws(HostError) {
        try settle(request) { server, endpoint, writer throws(GATTServerError) in
            try endpoint.refuse(request.token, with: code, at: handle, server: server, into: &writer)
        }
    }

    /// Lets the server answer on behalf of the application.
    private mutating func settle(
        _ request: ServerRequest,
        _ body: (inout GATTServer, inout AttributeEndpoint, inout ByteWriter) throws(GATTServerError) ->
            GATTServerOutcome
    ) throws(HostError) {
        guard let slot = links.slot(of: request.link) else { throw .noSuchLink }
        openFrame(on: request.token.channel)
        let outcome: GATTServerOutcome
        do throws(GATTServerError) {
            outcome = try body(&server, &links.at[slot.index].endpoint, &outbox.writer)
        } catch {
            outbox.rollback()
            throw .server(error)
        }
        closeFrame(slot, on: request.token.channel)
        served(outcome, Span<UInt8>(), slot)
    }

    /// Reports a value that the peer has written and the server has accepted.
    @inline(__always)
    mutating func written(_ handle: AttributeHandle, _ pdu: Span<UInt8>, _ value: Range<Int>, _ slot: LinkSlot) {
        let payload = events.store(pdu.extracting(value))
        events.append(.server(links.at[slot.index].identifier, .valueWritten(handle, payload)))
    }

    /// Reports the server's outcome for a PDU or a call. Its response, if any, has already been written.
    mutating func served(_ outcome: GATTServerOutcome, _ pdu: Span<UInt8>, _ slot: LinkSlot) {
        let link = links.at[slot.index].identifier
        switch outcome {
        case .none, .refused, .dropped, .clientSupportedFeaturesChanged, .signedWriteReceived: return
        case .valueWritten(let handle, let value):
            written(handle, pdu, value, slot)
        case .readRequested(let token, let handle, let offset):
            let request = ServerRequest(link: link, token: token)
            guard !answerOwnValue(request, handle, offset: offset, slot) else { return }
            events.append(.server(link, .readRequested(request, handle, offset: offset)))
        case .writeRequested(let token, let handle, let value):
            let payload = events.store(pdu.extracting(value))
            events.append(.server(link, .writeRequested(ServerRequest(link: link, token: token), handle, payload)))
        case .authorizationRequested(let token, let handle, let access):
            let request = ServerRequest(link: link, token: token)
            events.append(.server(link, .authorizationRequested(request, handle, access)))
        case .executeRequested(let token):
            let writes = links.at[slot.index].endpoint.preparedWrites(for: token)
            events.append(.server(link, .executeRequested(ServerRequest(link: link, token: token), writes)))
        case .preparedWritesExecuted(let changes):
            for change in changes { announce(change, of: link) }
        case .subscriptionChanged(let change):
            events.append(.server(link, .subscriptionChanged(change)))
        case .mtuExchanged(let mtu):
            events.append(.link(link, .mtuChanged(mtu)))
        case .confirmationReceived(let handle):
            // Also reported for Service Changed, which the host indicates itself, because an application may be waiting
            // to indicate a value.
            events.append(.server(link, .indicationConfirmed(handle)))
        case .requestExpired(let token):
            events.append(.server(link, .requestExpired(ServerRequest(link: link, token: token))))
        }
    }

    private mutating func announce(_ change: GATTValueChange, of link: LinkIdentifier) {
        switch change {
        case .value(let handle):
            let value = server.database.value(of: handle) ?? []
            events.append(.server(link, .valueWritten(handle, events.store(value.span))))
        case .subscription(let change): events.append(.server(link, .subscriptionChanged(change)))
        case .clientSupportedFeatures: return
        }
    }
}

/// A request from a peer that the application must answer exactly once.
public struct ServerRequest: Hashable, Sendable {
    /// The link that carried the request.
    public let link: LinkIdentifier
    let token: GATTRequestToken
    /// The bearer that carried the request. Each bearer may carry one request at a time.
    package var bearer: AttributeChannel.ID { token.channel }
}
