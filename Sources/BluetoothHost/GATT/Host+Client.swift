import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothL2CAP

/// The GATT client's calls.
extension Host {
    /// Starts a client operation on a link; `HostEvent.operationEnded` will follow, exactly once. Operations of one bearer are
    /// carried out in the order of the calls, those of different bearers in any.
    ///
    /// - Parameter bearer: by default that of the fixed channel. Operations that write values in parts belong there: the peer
    ///   has one queue for the parts from all bearers (Core 5.4, Vol 3, Part F, 3.4.6.1).
    public mutating func start(
        _ operation: GATTClientOperation, on link: LinkIdentifier, bearer: AttributeChannel.ID = .first, at now: Instant
    ) throws(HostError) -> GATTClient.OperationID {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        openFrame(on: bearer)
        let result = Result { () throws(GATTClientError) in
            try links.at[slot.index].endpoint.start(operation, on: bearer, at: now, into: &outbox.writer)
        }
        closeFrame(slot, on: bearer)
        drainClient(slot)
        if links.at[slot.index].negotiation.isUnused { negotiateBearers(.clientUsed, slot, at: now) }
        switch result {
        case .success(let identifier): return identifier
        case .failure(let error): throw .client(error)
        }
    }

    /// Calls a client operation off.
    public mutating func cancel(_ operation: GATTClient.OperationID, on link: LinkIdentifier) {
        guard let slot = links.slot(of: link) else { return }
        links.at[slot.index].endpoint.cancel(operation)
        drainClient(slot)
    }

    /// Whether a client operation's turn has come: its first request has been sent.
    package func isUnderWay(_ operation: GATTClient.OperationID, on link: LinkIdentifier) -> Bool {
        links.slot(of: link).map { links.at[$0.index].endpoint.isUnderWay(operation) } ?? false
    }

    /// Writes a value that is not answered (Core 5.4, Vol 3, Part G, 4.9.1). False where the link's send queue is full:
    /// nothing was sent, and `HostEvent.readyToSend` will follow.
    public mutating func writeWithoutResponse(
        _ value: Span<UInt8>, to handle: AttributeHandle, on link: LinkIdentifier
    ) throws(HostError) -> Bool {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        guard hasRoom(slot) else { return false }
        openFrame()
        do throws(GATTClientError) {
            try links.at[slot.index].endpoint.writeCommand(handle, value: value, into: &outbox.writer)
        } catch {
            outbox.rollback()
            throw .client(error)
        }
        closeFrame(slot, .attributeProtocol)
        return true
    }

    /// The longest values there can be, so that the peer may use them: asked for as soon as there is a link.
    mutating func beginMTUExchange(_ slot: LinkSlot, at now: Instant) {
        guard server.maximumMTU > ATTBearer.defaultMTU else { return }
        let exchange = GATTClientOperation.exchangeMTU(clientRxMTU: UInt16(clamping: server.maximumMTU))
        openFrame()
        // Where the fixed bearer takes no operation, its MTU stays as it is: the application may still exchange it.
        let operation = try? links.at[slot.index].endpoint.start(exchange, on: .first, at: now, into: &outbox.writer)
        closeFrame(slot, .attributeProtocol)
        links.at[slot.index].automaticExchange = operation
    }

    /// Reports which operations have ended.
    mutating func drainClient(_ slot: LinkSlot) {
        // Looked at in place: this runs for every response, and most end no operation.
        guard !links.at[slot.index].endpoint.events.isEmpty else { return }
        // Where no response has ended the negotiation's own operation, the link is about to end, and nothing follows.
        _ = announceEnds(slot)
    }

    /// Handles a response: reports which operations it has ended, and goes on with the negotiation of bearers.
    mutating func responseReceived(_ slot: LinkSlot, at now: Instant) {
        guard !links.at[slot.index].endpoint.events.isEmpty else { return }
        if let end = announceEnds(slot) { negotiateBearers(.operationEnded(end), slot, at: now) }
    }

    /// - Returns: the end of the negotiation's operation, which is not reported.
    private mutating func announceEnds(_ slot: LinkSlot) -> GATTClientEvent? {
        let ends = links.at[slot.index].endpoint.events
        links.at[slot.index].endpoint.events.removeAll(keepingCapacity: true)
        let own = links.at[slot.index].negotiation.operation
        announce(ends, of: links.at[slot.index].identifier, except: links.at[slot.index].automaticExchange, own)
        return own.flatMap { own in ends.first { $0.operation == own } }
    }

    /// - Parameters: the operations that the host started by itself, whose ends are not reported.
    mutating func announce(
        _ ends: [GATTClientEvent], of link: LinkIdentifier, except exchange: GATTClient.OperationID?,
        _ own: GATTClient.OperationID? = nil
    ) {
        for end in ends {
            if case .completed(let operation, .mtu(let mtu)) = end, operation.channel == .first {
                events.append(.link(link, .mtuChanged(mtu)))
            }
            if end.operation != exchange, end.operation != own { events.append(.client(link, .operationEnded(end))) }
        }
    }
}

extension GATTClientEvent {
    /// The operation that has ended.
    package var operation: GATTClient.OperationID {
        switch self {
        case .completed(let operation, _), .failed(let operation, _): operation
        }
    }
}
