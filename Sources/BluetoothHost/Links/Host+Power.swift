import BluetoothBase
import BluetoothHCI

/// Power control, and how much of the signal is lost on its way (Core 5.4, Vol 6, Part B, 5.1.17).
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
        let command = LEEnhancedReadTransmitPowerLevel(
            connectionHandle: links.at[slot].handle, phy: PowerLevelPHY(links.at[slot].phys.transmit))
        let request = try ask(command, .readLocal, link, at: now)
        links.at[slot].power.localReadings.append(request)
        return request
    }

    /// Asks the peer with how much power it sends; `HostEvent.Link.transmitPowerRead` or `.requestFailed` follows (Core 5.4, Vol 4,
    /// Part E, 7.8.118).
    ///
    /// - Throws: `.unsupported` where the controller lacks the command, `.busy` while another such request waits.
    public mutating func readRemoteTransmitPower(
        of link: LinkIdentifier, at now: Instant
    ) throws(HostError) -> RequestIdentifier {
        let slot = try slot(of: link, with: .leReadRemoteTransmitPowerLevel)
        guard links.at[slot].power.remoteReading == nil else { throw .busy }
        let command = LEReadRemoteTransmitPowerLevel(
            connectionHandle: links.at[slot].handle, phy: PowerLevelPHY(links.at[slot].phys.receive))
        let request = try ask(command, .readRemote, link, at: now)
        links.at[slot].power.remoteReading = (request, now.advanced(by: LinkPower.timeout))
        return request
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
        guard links.at[slot].power.pathLoss == nil else { throw .busy }
        let handle = links.at[slot].handle
        let command = LESetPathLossReportingParameters(
            connectionHandle: handle, highThreshold: thresholds.high, highHysteresis: thresholds.hysteresis,
            lowThreshold: thresholds.low, lowHysteresis: thresholds.hysteresis, minTimeSpent: thresholds.minimumEvents)
        let request = try ask(command, .setPathLossParameters(handle), link, at: now)
        links.at[slot].power.pathLoss = LinkPower.Reports(request: request)
        return request
    }

    /// Ends what `reportPathLoss` has begun. A request that has not ended fails with `.cancelled`.
    public mutating func stopReportingPathLoss(of link: LinkIdentifier, at now: Instant) {
        guard let slot = links.slot(of: link), let reports = links.at[slot].power.pathLoss else { return }
        links.at[slot].power.pathLoss = nil
        if !reports.areOn { events.append(.link(link, .requestFailed(reports.request, .cancelled))) }
        // Whatever the controller makes of it: reports that nobody has asked for go nowhere.
        send(
            LESetPathLossReportingEnable(connectionHandle: links.at[slot].handle, isEnabled: false), for: .none, at: now
        )
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
        guard links.at[slot].power.transmitPower == nil else { throw .busy }
        let command = LESetTransmitPowerReportingEnable(
            connectionHandle: links.at[slot].handle, reportsLocal: local, reportsRemote: remote)
        let request = try ask(command, .enableTransmitPower, link, at: now)
        links.at[slot].power.transmitPower = LinkPower.Reports(request: request)
        return request
    }

    /// Ends what `reportTransmitPower` has begun. A request that has not ended fails with `.cancelled`.
    public mutating func stopReportingTransmitPower(of link: LinkIdentifier, at now: Instant) {
        guard let slot = links.slot(of: link), let reports = links.at[slot].power.transmitPower else { return }
        links.at[slot].power.transmitPower = nil
        if !reports.areOn { events.append(.link(link, .requestFailed(reports.request, .cancelled))) }
        send(
            LESetTransmitPowerReportingEnable(
                connectionHandle: links.at[slot].handle, reportsLocal: false, reportsRemote: false),
            for: .none, at: now)
    }

    private func slot(of link: LinkIdentifier, with opcode: HCIOpcode) throws(HostError) -> LinkTable.Slot {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        guard controller?.commands.contains(opcode) == true else { throw .unsupported }
        return slot
    }

    private mutating func ask<Command: HCICommand>(
        _ command: Command, _ step: PowerStep, _ link: LinkIdentifier, at now: Instant
    ) throws(HostError) -> RequestIdentifier {
        let request = makeRequest()
        guard sendOptional(command, for: .power(step, request, link), at: now) else { throw .busy }
        return request
    }

    // MARK: Answers

    /// The answer to one of these commands.
    mutating func powerAnswered(
        _ step: PowerStep, _ request: RequestIdentifier, _ link: LinkIdentifier,
        _ completion: borrowing CommandCompletion, at now: Instant
    ) {
        // Without its link a request has ended.
        guard let slot = links.slot(of: link) else { return }
        let isDone = completion.status == .success
        switch step {
        case .readLocal:
            links.at[slot].power.localReadings.removeAll { $0 == request }
            localPowerRead(request, link, completion)
        case .readRemote:
            // Otherwise the peer's answer follows.
            guard !isDone else { return }
            endRemoteReading(slot, .failure(.controller(completion.status)))
        case .setPathLossParameters(let handle):
            guard links.at[slot].power.pathLoss?.request == request else { return }
            let command = LESetPathLossReportingEnable(connectionHandle: handle, isEnabled: true)
            guard isDone else { return endPathLoss(slot, .controller(completion.status)) }
            if !sendOptional(command, for: .power(.enablePathLoss, request, link), at: now) { endPathLoss(slot, .busy) }
        case .enablePathLoss:
            guard links.at[slot].power.pathLoss?.request == request else { return }
            guard isDone else { return endPathLoss(slot, .controller(completion.status)) }
            links.at[slot].power.pathLoss?.areOn = true
            events.append(.link(link, .requestCompleted(request)))
        case .enableTransmitPower:
            guard links.at[slot].power.transmitPower?.request == request else { return }
            links.at[slot].power.transmitPower = isDone ? LinkPower.Reports(request: request, areOn: true) : nil
            let failure = HostEvent.Link.requestFailed(request, .controller(completion.status))
            events.append(.link(link, isDone ? .requestCompleted(request) : failure))
        }
    }

    private mutating func localPowerRead(
        _ request: RequestIdentifier, _ link: LinkIdentifier, _ completion: borrowing CommandCompletion
    ) {
        guard completion.status == .success else {
            return events.append(.link(link, .requestFailed(request, .controller(completion.status))))
        }
        do {
            let returned = try completion.decodeReturnParameters(of: LEEnhancedReadTransmitPowerLevel.self)
            events.append(.link(link, .transmitPowerRead(request, LinkTransmitPower(returned))))
        } catch {
            events.append(.link(link, .requestFailed(request, .controller(.unspecifiedError))))
        }
    }

    private mutating func endPathLoss(_ slot: LinkTable.Slot, _ error: HostError) {
        guard let request = links.at[slot].power.pathLoss?.request else { return }
        links.at[slot].power.pathLoss = nil
        events.append(.link(links.at[slot].identifier, .requestFailed(request, error)))
    }

    private mutating func endRemoteReading(_ slot: LinkTable.Slot, _ result: Result<LinkTransmitPower, HostError>) {
        guard let request = links.at[slot].power.remoteReading?.request else { return }
        links.at[slot].power.remoteReading = nil
        let link = links.at[slot].identifier
        switch result {
        case .success(let power): events.append(.link(link, .transmitPowerRead(request, power)))
        case .failure(let error): events.append(.link(link, .requestFailed(request, error)))
        }
    }

    mutating func firePower(_ slot: LinkTable.Slot, at now: Instant) {
        guard let deadline = links.at[slot].power.remoteReading?.deadline, deadline <= now else { return }
        endRemoteReading(slot, .failure(.timedOut))
    }

    // MARK: Events

    /// LE Path Loss Threshold.
    mutating func pathLossReported(_ report: LEPathLossThreshold) {
        guard let slot = links.slot(of: report.connectionHandle), links.at[slot].power.pathLoss?.areOn == true,
            report.zoneEntered.rawValue <= PathLossZone.high.rawValue
        else { return }
        let loss = report.currentPathLoss == 0xFF ? nil : Int(report.currentPathLoss)
        events.append(
            .link(
                links.at[slot].identifier, .power(.pathLoss(PathLossReport(loss: loss, zone: report.zoneEntered)))))
    }

    /// LE Transmit Power Reporting: of a change, or what was asked of the peer.
    mutating func transmitPowerReported(_ report: LETransmitPowerReporting) {
        guard let slot = links.slot(of: report.connectionHandle) else { return }
        let power = LinkTransmitPower(report)
        guard let side = TransmitPowerChange.Side(rawValue: report.reason) else {
            // The reason 2 stands for LE Read Remote Transmit Power Level; others are reserved.
            guard report.reason == 2 else { return }
            let isDone = report.status == .success
            return endRemoteReading(slot, isDone ? .success(power) : .failure(.controller(report.status)))
        }
        guard report.status == .success, links.at[slot].power.transmitPower?.areOn == true else { return }
        let change = TransmitPowerChange(
            side: side, power: power, delta: report.delta == 127 ? nil : Int(report.delta))
        events.append(.link(links.at[slot].identifier, .power(.transmitPower(change))))
    }
}

extension PowerLevelPHY {
    /// That of a link. Which coding LE Coded has there is not known: eight symbols a bit is what both sides can always use.
    fileprivate init(_ phy: LEPHY) { self.init(rawValue: phy.rawValue) }
}
