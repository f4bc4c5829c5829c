import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothL2CAP

/// Calls to the GATT client.
extension Host {
    /// Starts a client operation on a link. `HostEvent.Client.operationEnded` will follow, exactly once. Operations on
    /// one bearer are carried out in the order of the calls. Operations on different bearers may be carried out in any
    /// order.
    ///
    /// - Parameter bearer: the bearer to use; defaults to the fixed channel. Use the default for operations that write
    ///   values in parts, because the peer has a single queue for the parts from all bearers (Core 5.4, Vol 3, Part F,
    ///   3.4.6.1).
    public mutating func start(
        _ operation: GATTClientOperation, on link: LinkIdentifier, bearer: AttributeChannel.ID = .first, at now: Instant
    ) throws(HostError) -> GATTClient.OperationID {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        consequence = .waiting
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

    /// Cancels a client operation.
    public mutating func cancel(_ operation: GATTClient.OperationID, on link: LinkIdentifier) {
        guard let slot = links.slot(of: link) else { return }
        links.at[slot.index].endpoint.cancel(operation)
        drainClient(slot)
    }

    /// Whether the first request of a client operation has been sent.
    package func isUnderWay(_ operation: GATTClient.OperationID, on link: LinkIdentifier) -> Bool {
        links.slot(of: link).map { links.at[$0.index].endpoint.isUnderWay(operation) } ?? false
    }

    /// Writes a value without response (Core 5.4, Vol 3, Part G, 4.9.1). Returns false if the link's send queue is
    /// full: nothing was sent, and `HostEvent.Link.readyToSend` will follow.
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

    /// Exchanges the MTU as soon as a link exists, so that the peer may send the longest possible values.
    mutating func beginMTUExchange(_ slot: LinkSlot, at now: Instant) {
        guard server.maximumMTU > ATTBearer.defaultMTU else { return }
        let exchange = GATTClientOperation.exchangeMTU(clientRxMTU: UInt16(clamping: server.maximumMTU))
        openFrame()
        // If the fixed bearer accepts no operation, its MTU stays as it is. The application may still exchange it.
        let operation = try? links.at[slot.index].endpoint.start(exchange, on: .first, at: now, into: &outbox.writer)
        closeFrame(slot, .attributeProtocol)
        links.at[slot.index].automaticExchange = operation
    }

    /// Reports the operations that have ended.
    mutating func drainClient(_ slot: LinkSlot) {
        // Checked in place, because this runs for every response, and most responses end no operation.
        guard !links.at[slot.index].endpoint.events.isEmpty else { return }
        // This is not called for a response. So if the negotiation's own operation has ended, the link is about to end,
        // and nothing follows.
        _ = announceEnds(slot)
    }

    /// Handles a response: reports the operations that it has ended, and continues the negotiation of bearers.
    mutating func responseReceived(_ slot: LinkSlot, at now: Instant) {
        guard !links.at[slot.index].endpoint.events.isEmpty else { return }
        if let end = announceEnds(slot) { negotiateBearers(.operationEnded(end), slot, at: now) }
    }

    /// - Returns: the end of the negotiation's own operation, which is not reported.
    private mutating func announceEnds(_ slot: LinkSlot) -> GATTClientEvent? {
        // The events are moved out and back, so that their array is not allocated again.
        var ends: [GATTClientEvent] = []
        swap(&ends, &links.at[slot.index].endpoint.events)
        defer {
            ends.removeAll(keepingCapacity: true)
            swap(&ends, &links.at[slot.index].endpoint.events)
        }
        let own = links.at[slot.index].negotiation.operation
        announce(ends, of: links.at[slot.index].identifier, except: links.at[slot.index].automaticExchange, own)
        return own.flatMap { own in ends.first { $0.operation == own } }
    }

    /// - Parameters: the operations that the host started itself, whose ends are not reported.
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
