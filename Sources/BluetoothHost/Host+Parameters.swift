import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP

/// Connection parameters: as central they are ours to set, as peripheral ours to ask for.
extension Host {
    /// Changes the connection parameters of a link, or asks the central to (Core 5.4, Vol 3, Part A, 4.20).
    /// `HostEvent.requestCompleted` follows when the new ones hold, and `.parametersChanged` says which they are.
    public mutating func updateParameters(
        _ parameters: ConnectionParameters, of link: LinkIdentifier, at now: Instant
    ) throws(HostError) -> RequestIdentifier {
        guard parameters.isValid else { throw .invalidParameters }
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        guard links[slot].updates.isEmpty else { throw .busy }
        switch links[slot].role {
        case .central:
            let request = makeRequest()
            guard sendUpdate(parameters, slot, for: .connectionUpdate(link), at: now) else { throw .busy }
            links[slot].updates.append(request)
            links[slot].updateDeadline = now.advanced(by: Link.updatePatience)
            return request
        case .peripheral:
            openFrame()
            do throws(ConnectionParameterUpdateError) {
                try links[slot].signalling.requestConnectionParameterUpdate(
                    parameters, at: now, into: &outbox.writer)
            } catch {
                outbox.rollback()
                throw .busy
            }
            closeFrame(slot, .leSignalling)
            let request = makeRequest()
            links[slot].updates.append(request)
            return request
        }
    }

    private mutating func sendUpdate(
        _ parameters: ConnectionParameters, _ slot: Int, for purpose: CommandPurpose, at now: Instant
    ) -> Bool {
        let update = LEConnectionUpdate(
            connectionHandle: links[slot].handle, connectionParameters: LEConnectionParameters(parameters))
        return send(update, for: purpose, at: now)
    }

    /// What a step of the signalling channel led to.
    mutating func signallingStepped(_ outcome: SignallingOutcome, _ slot: Int, at now: Instant) {
        switch outcome {
        case .ignored, .rejected, .connectionParameterUpdateRejected: return
        case .connectionParameterUpdateAccepted(let parameters):
            _ = sendUpdate(parameters, slot, for: .none, at: now)
        case .connectionParameterUpdateEnded(.accepted):
            // The controller tells when the new parameters hold.
            links[slot].updateDeadline = now.advanced(by: Link.updatePatience)
        case .connectionParameterUpdateEnded(.timedOut): endUpdates(slot, .timedOut)
        case .connectionParameterUpdateEnded(.rejected), .connectionParameterUpdateEnded(.notSupported):
            endUpdates(slot, .refusedByPeer)
        }
    }

    /// LE Connection Update Complete. Some controllers send it before the Command Status of the command it answers.
    mutating func connectionUpdated(_ complete: LEConnectionUpdateComplete) {
        guard let slot = links.slot(of: complete.connectionHandle) else { return }
        guard complete.status == .success else { return endUpdates(slot, .controller(complete.status)) }
        let parameters = CurrentConnectionParameters(
            interval: complete.interval.duration, latency: complete.latency,
            supervisionTimeout: complete.supervisionTimeout.duration)
        links[slot].parameters = parameters
        events.append(.parametersChanged(links[slot].identifier, parameters))
        endUpdates(slot, nil)
    }

    /// LE Remote Connection Parameter Request: the peer asks over the link layer what it might ask over L2CAP.
    mutating func parametersRequested(_ request: LERemoteConnectionParameterRequest, at now: Instant) {
        let wanted = ConnectionParameters(
            intervalMin: request.intervalMin.rawValue, intervalMax: request.intervalMax.rawValue,
            latency: request.maxLatency, timeout: request.supervisionTimeout.rawValue)
        if let granted = configuration.acceptableParameters.granted(of: wanted) {
            send(
                LERemoteConnectionParameterRequestReply(
                    connectionHandle: request.connectionHandle,
                    connectionParameters: LEConnectionParameters(granted)),
                for: .none, at: now)
        } else {
            send(
                LERemoteConnectionParameterRequestNegativeReply(connectionHandle: request.connectionHandle),
                for: .none, at: now)
        }
    }

    /// Command Status of LE Connection Update.
    mutating func connectionUpdateAnswered(_ status: HCIStatus, _ link: LinkIdentifier) {
        guard status != .success, let slot = links.slot(of: link) else { return }
        endUpdates(slot, .controller(status))
    }

    /// The controller never told that the parameters have changed, nor that they have not.
    mutating func fireUpdates(_ slot: Int, at now: Instant) {
        guard let deadline = links[slot].updateDeadline, deadline <= now else { return }
        endUpdates(slot, .timedOut)
    }

    private mutating func endUpdates(_ slot: Int, _ error: HostError?) {
        links[slot].updateDeadline = nil
        let requests = links[slot].updates
        links[slot].updates.removeAll()
        for request in requests {
            events.append(error.map { .requestFailed(request, $0) } ?? .requestCompleted(request))
        }
    }
}

extension LEConnectionParameters {
    init(_ parameters: ConnectionParameters) {
        self.init(
            intervalMin: ConnectionInterval(rawValue: parameters.intervalMin),
            intervalMax: ConnectionInterval(rawValue: parameters.intervalMax), maxLatency: parameters.latency,
            supervisionTimeout: SupervisionTimeout(rawValue: parameters.timeout))
    }
}
