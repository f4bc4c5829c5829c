import BluetoothBase
import BluetoothHCI

/// Power control, and how much of the signal is lost on its way (Core 5.4, Vol 6, Part B, 5.1.17). See `LinkPower`.
extension Host {
    // MARK: Reading

    /// Asks the controller with how much power it sends on a link; `HostEvent.Link.transmitPowerRead` or `.requestFailed` follows
    /// (Core 5.4, Vol 4, Part E, 7.8.117).
    ///
    /// - Throws: `.unsupported` where the controller lacks the command.
    public mutating func readTransmitPower(
        of link: LinkIdentifier, at now: Instant
    ) throws(HostError) -> RequestIdentifier {
        let slot = try slot(of: link, with: .leEnhancedReadTransmitPowerLevel)
        return try request(slot, at: now) { link, request, context throws(HostError) in
            try link.power.readings.readLocal(on: link.phys.transmit, request, context)
        }
    }

    /// Asks the peer with how much power it sends; `HostEvent.Link.transmitPowerRead` or `.requestFailed` follows (Core 5.4, Vol 4,
    /// Part E, 7.8.118).
    ///
    /// - Throws: `.unsupported` where the controller lacks the command, `.busy` while another such request waits.
    public mutating func readRemoteTransmitPower(
        of link: LinkIdentifier, at now: Instant
    ) throws(HostError) -> RequestIdentifier {
        let slot = try slot(of: link, with: .leReadRemoteTransmitPowerLevel)
        return try request(slot, at: now) { link, request, context throws(HostError) in
            try link.power.readings.readRemote(on: link.phys.receive, request, context)
        }
    }

    // MARK: Reports

    /// Has `LinkPowerEvent.pathLoss` sent whenever the loss of signal enters another zone, and for the zone it is in at first. Follows
    /// `HostEvent.Link.requestCompleted` or `.requestFailed` (Core 5.4, Vol 4, Part E, 7.8.119 and 7.8.120).
    ///
    /// - Throws: `.unsupported` where the controller lacks the commands, `.busy` while such reports are asked for already.
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

    /// Ends what `reportPathLoss` has begun. A request that has not ended fails with `.cancelled`.
    public mutating func stopReportingPathLoss(of link: LinkIdentifier, at now: Instant) {
        guard let slot = links.slot(of: link) else { return }
        advance(slot, at: now) { $0.power.pathLoss.handle(.stopped, $1) }
    }

    /// Has `LinkPowerEvent.transmitPower` sent whenever this device, the peer or either sends with other power. Follows
    /// `HostEvent.Link.requestCompleted` or `.requestFailed` (Core 5.4, Vol 4, Part E, 7.8.121).
    ///
    /// - Throws: `.unsupported` where the controller lacks the command, `.busy` while such reports are asked for already.
    public mutating func reportTransmitPower(
        local: Bool, remote: Bool, of link: LinkIdentifier, at now: Instant
    ) throws(HostError) -> RequestIdentifier {
        guard local || remote else { throw .invalidParameters }
        let slot = try slot(of: link, with: .leSetTransmitPowerReportingEnable)
        return try request(slot, at: now) { link, request, context throws(HostError) in
            try link.power.transmitPower.ask(local: local, remote: remote, request, context)
        }
    }

    /// Ends what `reportTransmitPower` has begun. A request that has not ended fails with `.cancelled`.
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

    /// The answer to one of these commands.
    mutating func powerAnswered(
        _ answer: LinkPower.Answer, _ request: RequestIdentifier, _ link: LinkIdentifier,
        _ completion: borrowing CommandCompletion, at now: Instant
    ) {
        // Without its link a request has ended.
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

    /// LE Path Loss Threshold.
    mutating func pathLossReported(_ report: LEPathLossThreshold, at now: Instant) {
        guard let slot = links.slot(of: report.connectionHandle) else { return }
        advance(slot, at: now) { $0.power.pathLoss.handle(.crossed(report), $1) }
    }

    /// LE Transmit Power Reporting: of a change, or what was asked of the peer.
    mutating func transmitPowerReported(_ report: LETransmitPowerReporting, at now: Instant) {
        guard let slot = links.slot(of: report.connectionHandle) else { return }
        if let change = TransmitPowerChange(report) {
            guard report.status == .success else { return }
            advance(slot, at: now) { $0.power.transmitPower.handle(.changed(change), $1) }
        } else if report.reason == 2 {
            // The reason stands for LE Read Remote Transmit Power Level; others are reserved.
            let power = LinkTransmitPower(report)
            advance(slot, at: now) { $0.power.readings.handle(.remoteReported(report.status, power), $1) }
        }
    }
}
