import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothL2CAP

/// The GATT client's calls.
extension Host {
    /// Starts a client operation on a link; `HostEvent.operationEnded` will follow, exactly once. Operations of one
    /// link are carried out in the order of the calls.
    public mutating func start(
        _ operation: GATTClientOperation, on link: LinkIdentifier, at now: Instant
    ) throws(HostError) -> GATTClient.OperationID {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        openFrame()
        let result = Result { () throws(GATTClientError) in
            try links.at[slot].endpoint.start(operation, on: .first, at: now, into: &outbox.writer)
        }
        closeFrame(slot, .attributeProtocol)
        drainClient(slot)
        switch result {
        case .success(let identifier): return identifier
        case .failure(let error): throw .client(error)
        }
    }

    /// Calls a client operation off.
    public mutating func cancel(_ operation: GATTClient.OperationID, on link: LinkIdentifier) {
        guard let slot = links.slot(of: link) else { return }
        links.at[slot].endpoint.cancel(operation)
        drainClient(slot)
    }

    /// Whether a client operation's turn has come: its first request has been sent.
    func isUnderWay(_ operation: GATTClient.OperationID, on link: LinkIdentifier) -> Bool {
        links.slot(of: link).map { links.at[$0].endpoint.isUnderWay(operation) } ?? false
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
            try links.at[slot].endpoint.writeCommand(handle, value: value, into: &outbox.writer)
        } catch {
            outbox.rollback()
            throw .client(error)
        }
        closeFrame(slot, .attributeProtocol)
        return true
    }

    /// The longest values there can be, so that the peer may use them: asked for as soon as there is a link.
    mutating func beginMTUExchange(_ slot: Int, at now: Instant) {
        guard server.maximumMTU > ATTBearer.defaultMTU else { return }
        let exchange = GATTClientOperation.exchangeMTU(clientRxMTU: UInt16(clamping: server.maximumMTU))
        let operation = try? start(exchange, on: links.at[slot].identifier, at: now)
        links.at[slot].automaticExchange = operation
    }

    /// Reports which operations have ended.
    mutating func drainClient(_ slot: Int) {
        // Looked at in place: this runs for every response, and most end no operation.
        guard !links.at[slot].endpoint.events.isEmpty else { return }
        let ends = links.at[slot].endpoint.events
        links.at[slot].endpoint.events.removeAll(keepingCapacity: true)
        announce(ends, of: links.at[slot].identifier, except: links.at[slot].automaticExchange)
    }

    /// - Parameter own: the operation that the host started by itself, whose end is not reported.
    mutating func announce(
        _ ends: [GATTClientEvent], of link: LinkIdentifier, except own: GATTClient.OperationID?
    ) {
        for end in ends {
            if case .completed(_, .mtu(let mtu)) = end { events.append(.link(link, .mtuChanged(mtu))) }
            if end.operation != own { events.append(.client(link, .operationEnded(end))) }
        }
    }
}

extension GATTClientEvent {
    /// The operation that has ended.
    var operation: GATTClient.OperationID {
        switch self {
        case .completed(let operation, _), .failed(let operation, _): operation
        }
    }
}
