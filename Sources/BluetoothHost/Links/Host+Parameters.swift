import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP

/// Connection parameters. A central sets them, a peripheral requests them from its central. See `ParameterNegotiation`.
extension Host {
    /// Changes the connection parameters of a link. A peripheral requests the change from the central: over the link
    /// layer if both sides support that (Core 5.4, Vol 6, Part B, 5.1.7), otherwise over L2CAP (Vol 3, Part A, 4.20).
    /// After the central has refused, another request is allowed after 30 seconds. Until then the host throws
    /// `.refusedByPeer`.
    ///
    /// `HostEvent.Link.requestCompleted` follows when the new parameters are in effect, and `.parametersChanged`
    /// reports them.
    public mutating func updateParameters(
        _ parameters: ConnectionParameters, of link: LinkIdentifier, at now: Instant
    ) throws(HostError) -> RequestIdentifier {
        guard parameters.isValid else { throw .invalidParameters }
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        return try request(slot, at: now) { link, request, context throws(HostError) in
            try link.parameterNegotiation.ask(for: parameters, request, context)
        }
    }

    /// Handles the outcome of a step of the signalling channel.
    mutating func signallingStepped(_ outcome: SignallingOutcome, _ slot: LinkSlot, at now: Instant) {
        let event: ParameterNegotiation.Event
        switch outcome {
        case .ignored, .rejected, .channelsChanged, .connectionParameterUpdateRejected: return
        case .connectionParameterUpdateAccepted(let parameters): event = .peripheralAsked(parameters)
        case .connectionParameterUpdateEnded(let end): event = .centralAnswered(end)
        }
        advance(slot, at: now) { $0.parameterNegotiation.handle(event, $1) }
    }

    /// Handles LE Connection Update Complete.
    mutating func connectionUpdated(_ complete: LEConnectionUpdateComplete, at now: Instant) {
        guard let slot = links.slot(of: complete.connectionHandle) else { return }
        let parameters = CurrentConnectionParameters(
            interval: complete.interval.duration, latency: complete.latency,
            supervisionTimeout: complete.supervisionTimeout.duration)
        advance(slot, at: now) { $0.parameterNegotiation.handle(.updateCompleted(complete.status, parameters), $1) }
    }

    /// Handles the Command Status of LE Connection Update.
    mutating func connectionUpdateAnswered(_ status: HCIStatus, _ link: LinkIdentifier, at now: Instant) {
        guard let slot = links.slot(of: link) else { return }
        advance(slot, at: now) { $0.parameterNegotiation.handle(.commandAnswered(status), $1) }
    }

    /// Handles LE Remote Connection Parameter Request: the peer's request over the link layer, instead of over L2CAP.
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
