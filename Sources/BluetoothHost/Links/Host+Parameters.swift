import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP

/// Connection parameters: as central they are ours to set, as peripheral ours to ask for. See `ParameterNegotiation`.
extension Host {
    /// Changes the connection parameters of a link, or asks the central to: over the link layer where both sides can
    /// (Core 5.4, Vol 6, Part B, 5.1.7), else over L2CAP (Vol 3, Part A, 4.20). A central that has refused is asked again after
    /// 30 seconds; until then the host throws `.refusedByPeer`.
    /// `HostEvent.requestCompleted` follows when the new ones hold, and `.parametersChanged` says which they are.
    public mutating func updateParameters(
        _ parameters: ConnectionParameters, of link: LinkIdentifier, at now: Instant
    ) throws(HostError) -> RequestIdentifier {
        guard parameters.isValid else { throw .invalidParameters }
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        return try request(slot, at: now) { link, request, context throws(HostError) in
            try link.parameterNegotiation.ask(for: parameters, request, context)
        }
    }

    /// What a step of the signalling channel led to.
    mutating func signallingStepped(_ outcome: SignallingOutcome, _ slot: LinkSlot, at now: Instant) {
        let event: ParameterNegotiation.Event
        switch outcome {
        case .ignored, .rejected, .channelsChanged, .connectionParameterUpdateRejected: return
        case .connectionParameterUpdateAccepted(let parameters): event = .peripheralAsked(parameters)
        case .connectionParameterUpdateEnded(let end): event = .centralAnswered(end)
        }
        advance(slot, at: now) { $0.parameterNegotiation.handle(event, $1) }
    }

    /// LE Connection Update Complete.
    mutating func connectionUpdated(_ complete: LEConnectionUpdateComplete, at now: Instant) {
        guard let slot = links.slot(of: complete.connectionHandle) else { return }
        let parameters = CurrentConnectionParameters(
            interval: complete.interval.duration, latency: complete.latency,
            supervisionTimeout: complete.supervisionTimeout.duration)
        advance(slot, at: now) { $0.parameterNegotiation.handle(.updateCompleted(complete.status, parameters), $1) }
    }

    /// Command Status of LE Connection Update.
    mutating func connectionUpdateAnswered(_ status: HCIStatus, _ link: LinkIdentifier, at now: Instant) {
        guard let slot = links.slot(of: link) else { return }
        advance(slot, at: now) { $0.parameterNegotiation.handle(.commandAnswered(status), $1) }
    }

    /// LE Remote Connection Parameter Request: the peer asks over the link layer what it might ask over L2CAP.
    mutating func parametersRequested(_ request: LERemoteConnectionParameterRequest, at now: Instant) {
        let wanted = ConnectionParameters(
            intervalMin: request.intervalMin.rawValue, intervalMax: request.intervalMax.rawValue,
            latency: request.maxLatency, timeout: request.supervisionTimeout.rawValue)
        if let granted = configuration.acceptableParameters.granted(of: wanted) {
            _ = sendOptional(
                LERemoteConnectionParameterRequestReply(
                    connectionHandle: request.connectionHandle,
                    connectionParameters: LEConnectionParameters(granted)),
                for: .none, at: now)
        } else {
            _ = sendOptional(
                LERemoteConnectionParameterRequestNegativeReply(connectionHandle: request.connectionHandle),
                for: .none, at: now)
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
