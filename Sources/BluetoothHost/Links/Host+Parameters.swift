import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP

/// Connection parameters: as central they are ours to set, as peripheral ours to ask for.
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
        guard links.at[slot].update == nil else { throw .busy }
        if let until = links.at[slot].updateRefusedUntil, now < until { throw .refusedByPeer }
        if links.at[slot].role == .central || updatesOverLinkLayer(slot) {
            guard sendUpdate(parameters, slot, for: .connectionUpdate(link), at: now) else { throw .busy }
        } else {
            guard requestUpdate(parameters, slot, at: now) else { throw .busy }
        }
        let request = makeRequest()
        wait(for: request, parameters, slot, at: now)
        return request
    }

    /// Whether both sides have the procedure by which a peripheral asks its central.
    private func updatesOverLinkLayer(_ slot: Int) -> Bool {
        controller?.features.contains(.connectionParametersRequest) == true
            && links.at[slot].remoteFeatures.contains(.connectionParametersRequest)
    }

    /// Asks the central over L2CAP. False where it still owes an answer.
    private mutating func requestUpdate(_ parameters: ConnectionParameters, _ slot: Int, at now: Instant) -> Bool {
        openFrame()
        do throws(ConnectionParameterUpdateError) {
            try links.at[slot].signalling.requestConnectionParameterUpdate(parameters, at: now, into: &outbox.writer)
        } catch {
            outbox.rollback()
            return false
        }
        closeFrame(slot, .leSignalling)
        return true
    }

    private mutating func wait(
        for request: RequestIdentifier, _ parameters: ConnectionParameters, _ slot: Int, at now: Instant
    ) {
        links.at[slot].update = PendingUpdate(
            request: request, parameters: parameters, deadline: now.advanced(by: PendingUpdate.timeout))
    }

    private mutating func sendUpdate(
        _ parameters: ConnectionParameters, _ slot: Int, for purpose: CommandPurpose, at now: Instant
    ) -> Bool {
        let update = LEConnectionUpdate(
            connectionHandle: links.at[slot].handle, connectionParameters: LEConnectionParameters(parameters))
        return sendOptional(update, for: purpose, at: now)
    }

    /// What a step of the signalling channel led to.
    mutating func signallingStepped(_ outcome: SignallingOutcome, _ slot: Int, at now: Instant) {
        switch outcome {
        case .ignored, .rejected, .channelsChanged, .connectionParameterUpdateRejected: return
        case .connectionParameterUpdateAccepted(let parameters):
            _ = sendUpdate(parameters, slot, for: .none, at: now)
        case .connectionParameterUpdateEnded(.accepted):
            // The controller tells when new parameters hold, and nothing where they hold already (Vol 4, Part E, 7.7.65.3).
            if let update = links.at[slot].update, links.at[slot].parameters.satisfy(update.parameters) {
                endUpdate(slot, nil)
            }
        case .connectionParameterUpdateEnded(.timedOut): endUpdate(slot, .timedOut)
        case .connectionParameterUpdateEnded(.rejected), .connectionParameterUpdateEnded(.notSupported):
            updateRefused(slot, at: now)
        }
    }

    /// LE Connection Update Complete. Some controllers send it before the Command Status of the command it answers.
    mutating func connectionUpdated(_ complete: LEConnectionUpdateComplete, at now: Instant) {
        guard let slot = links.slot(of: complete.connectionHandle) else { return }
        guard complete.status == .success else { return updateFailed(complete.status, slot, at: now) }
        let parameters = CurrentConnectionParameters(
            interval: complete.interval.duration, latency: complete.latency,
            supervisionTimeout: complete.supervisionTimeout.duration)
        links.at[slot].parameters = parameters
        // A link that has not been reported yet will have them when it is.
        guard links.at[slot].life.isAnnounced else { return }
        events.append(.link(links.at[slot].identifier, .parametersChanged(parameters)))
        endUpdate(slot, nil)
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

    /// Command Status of LE Connection Update.
    mutating func connectionUpdateAnswered(_ status: HCIStatus, _ link: LinkIdentifier, at now: Instant) {
        guard status != .success, let slot = links.slot(of: link) else { return }
        updateFailed(status, slot, at: now)
    }

    /// The link layer has not changed the parameters. As a peripheral there is still L2CAP, where it is the link layer's
    /// procedure that one of the two does not have after all.
    private mutating func updateFailed(_ status: HCIStatus, _ slot: Int, at now: Instant) {
        guard links.at[slot].role == .peripheral, let update = links.at[slot].update else {
            return endUpdate(slot, .controller(status))
        }
        switch status {
        case .unsupportedRemoteFeature, .commandDisallowed, .unknownCommand:
            links.at[slot].remoteFeatures.remove(.connectionParametersRequest)
            if !requestUpdate(update.parameters, slot, at: now) { endUpdate(slot, .controller(status)) }
        case .unacceptableConnectionParameters: updateRefused(slot, at: now)
        default: endUpdate(slot, .controller(status))
        }
    }

    private mutating func updateRefused(_ slot: Int, at now: Instant) {
        links.at[slot].updateRefusedUntil = now.advanced(by: PendingUpdate.refusalPause)
        endUpdate(slot, .refusedByPeer)
    }

    mutating func endUpdate(_ slot: Int, _ error: HostError?) {
        guard let request = links.at[slot].update?.request else { return }
        links.at[slot].update = nil
        let link = links.at[slot].identifier
        events.append(.link(link, error.map { .requestFailed(request, $0) } ?? .requestCompleted(request)))
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
