import BluetoothBase
import BluetoothHCI

/// Power control and path loss (Core 5.4, Vol 6, Part B, 5.1.17). See `LinkPower`.
extension Host {
    // MARK: Reading

    /// Reads the transmit power of this device on a link. `HostEvent.Link.transmitPowerRead` or `.requestFailed`
    /// follows (Core 5.4, Vol 4, Part E, 7.8.117).
    ///
    /// - Throws: `.unsupported` if the controller lacks the command.
    public mutating func readTransmitPower(
        of link: LinkIdentifier, at now: Instant
    ) throws(HostError) -> RequestIdentifier {
        let slot = try slot(of: link, with: .leEnhancedReadTransmitPowerLevel)
        return try request(slot, at: now) { link, request, context throws(HostError) in
            try link.power.readings.readLocal(on: link.phys.transmit, request, context)
        }
    }

    /// Reads the transmit power of the peer on a link. `HostEvent.Link.transmitPowerRead` or `.requestFailed` follows
    /// (Core 5.4, Vol 4, Part E, 7.8.118).
    ///
    /// - Throws: `.unsupported` if the controller lacks the command, `.busy` while another such request is pending.
    public mutating func readRemoteTransmitPower(
        of link: LinkIdentifier, at now: Instant
    ) throws(HostError) -> RequestIdentifier {
        let slot = try slot(of: link, with: .leReadRemoteTransmitPowerLevel)
        return try request(slot, at: now) { link, request, context throws(HostError) in
            try link.power.readings.readRemote(on: link.phys.receive, request, context)
        }
    }

    // MARK: Reports

    /// Starts reports of the path loss: `LinkPowerEvent.pathLoss` for the current zone, and whenever the zone changes.
    /// `HostEvent.Link.requestCompleted` or `.requestFailed` follows (Core 5.4, Vol 4, Part E, 7.8.119 and 7.8.120).
    ///
    /// - Throws: `.unsupported` if the controller lacks the commands, `.busy` if these reports are already on or
    ///   requested.
    public mutating func reportPathLoss(
        _ thresholds: PathLossThresholds, of link: LinkIdentifier, at now: Instant
    ) throws(HostError) -> RequestIdentifier {
        guard thresholds.isValid else { throw .invalidParameters }
        _ = try slot(of: link, with: .leSetPathLossReportingEnable)
        let slot = try slot(of: link, with: .leSetPathLossReportingParameters)
        return try request(slot, at: now) { link, request, context throws(HostError) in
            try link.power.pathLoss.ask(for: thresholds, request, context)
        }
    }

    /// Stops the reports started by `reportPathLoss`. A request that is still pending fails with `.cancelled`.
    public mutating func stopReportingPathLoss(of link: LinkIdentifier, at now: Instant) {
        guard let slot = links.slot(of: link) else { return }
        advance(slot, at: now) { $0.power.pathLoss.handle(.stopped, $1) }
    }

    /// Starts reports of the transmit power: `LinkPowerEvent.transmitPower` whenever it changes on the selected sides.
    /// `HostEvent.Link.requestCompleted` or `.requestFailed` follows (Core 5.4, Vol 4, Part E, 7.8.121).
    ///
    /// - Throws: `.unsupported` if the controller lacks the command, `.busy` if these reports are already on or
    ///   requested.
    public mutating func reportTransmitPower(
        local: Bool, remote: Bool, of link: LinkIdentifier, at now: Instant
    ) throws(HostError) -> RequestIdentifier {
        guard local || remote else { throw .invalidParameters }
        let slot = try slot(of: link, with: .leSetTransmitPowerReportingEnable)
        return try request(slot, at: now) { link, request, context throws(HostError) in
            try link.power.transmitPower.ask(local: local, remote: remote, request, context)
        }
    }

    /// Stops the reports started by `reportTransmitPower`. A request that is still pending fails with `.cancelled`.
    public mutating func stopReportingTransmitPower(of link: LinkIdentifier, at now: Instant) {
        guard let slot = links.slot(of: link) else { return }
        advance(slot, at: now) { $0.power.transmitPower.handle(.stopped, $1) }
    }

    private func slot(of link: LinkIdentifier, with opcode: HCIOpcode) throws(HostError) -> LinkSlot {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        guard controller?.commands.contains(opcode) == true else { throw .unsupported(.powerControl) }
        return slot
    }

    // MARK: Answers and events

    /// Handles the answer to one of these commands.
    mutating func powerAnswered(
        _ answer: LinkPower.Answer, _ request: RequestIdentifier, _ link: LinkIdentifier,
        _ completion: borrowing CommandCompletion, at now: Instant
    ) {
        // The request has already ended with its link.
        guard let slot = links.slot(of: link) else { return }
        let status = completion.status
        switch answer {
        case .localReading:
            let power = localPower(completion)
            advance(slot, at: now) { $0.power.readings.handle(.localAnswered(request, power), $1) }
        case .remoteReading: advance(slot, at: now) { $0.power.readings.handle(.remoteAnswered(status), $1) }
        case .pathLoss: advance(slot, at: now) { $0.power.pathLoss.handle(.answered(request, status), $1) }
        case .transmitPower: advance(slot, at: now) { $0.power.transmitPower.handle(.answered(request, status), $1) }
        }
    }

    private func localPower(_ completion: borrowing CommandCompletion) -> Result<LinkTransmitPower, HostError> {
        guard completion.status == .success else { return .failure(.controller(completion.status)) }
        do {
            let returned = try completion.decodeReturnParameters(of: LEEnhancedReadTransmitPowerLevel.self)
            return .success(LinkTransmitPower(returned))
        } catch {
            return .failure(.controller(.unspecifiedError))
        }
    }

    /// Handles LE Path Loss Threshold.
    mutating func pathLossReported(_ report: LEPathLossThreshold, at now: Instant) {
        guard let slot = links.slot(of: report.connectionHandle) else { return }
        advance(slot, at: now) { $0.power.pathLoss.handle(.crossed(report), $1) }
    }

    /// Handles LE Transmit Power Reporting: a change, or the answer to a read of the peer's power.
    mutating func transmitPowerReported(_ report: LETransmitPowerReporting, at now: Instant) {
        guard let slot = links.slot(of: report.connectionHandle) else { return }
        if let change = TransmitPowerChange(report) {
            guard report.status == .success else { return }
            advance(slot, at: now) { $0.power.transmitPower.handle(.changed(change), $1) }
        } else if report.reason == 2 {
            // This reason means LE Read Remote Transmit Power Level. Higher values are reserved.
            let power = LinkTransmitPower(report)
            advance(slot, at: now) { $0.power.readings.handle(.remoteReported(report.status, power), $1) }
        }
    }
}
