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
            try links.at[slot].endpoint.start(operation, on: bearer, at: now, into: &outbox.writer)
        }
        closeFrame(slot, on: bearer)
        drainClient(slot)
        if !links.at[slot].enhanced.isClientUsed {
            links.at[slot].enhanced.isClientUsed = true
            beginBearers(slot, at: now)
        }
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
        openFrame()
        let operation = try? links.at[slot].endpoint.start(exchange, on: .first, at: now, into: &outbox.writer)
        closeFrame(slot, .attributeProtocol)
        links.at[slot].automaticExchange = operation
    }

    /// Reports which operations have ended.
    mutating func drainClient(_ slot: Int) {
        // Looked at in place: this runs for every response, and most end no operation.
        guard !links.at[slot].endpoint.events.isEmpty else { return }
        let ends = links.at[slot].endpoint.events
        links.at[slot].endpoint.events.removeAll(keepingCapacity: true)
        if let own = links.at[slot].enhanced.operation, let end = ends.first(where: { $0.operation == own }) {
            links.at[slot].enhanced.operationEnded(end)
            return announce(ends, of: links.at[slot].identifier, except: links.at[slot].automaticExchange, own)
        }
        announce(ends, of: links.at[slot].identifier, except: links.at[slot].automaticExchange)
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
    var operation: GATTClient.OperationID {
        switch self {
        case .completed(let operation, _), .failed(let operation, _): operation
        }
    }
}
