import BluetoothBase
import BluetoothHCI

/// Power control and path loss monitoring (Core 5.4, Vol 6, Part B, 5.1.17).
extension Air {
    /// Sets the transmit power of a controller, in dBm, limited to the maximum in its configuration. Hosts that enabled
    /// transmit power reporting are notified.
    public mutating func setTransmitPower(of id: ControllerID, to power: Int8, at now: Instant) {
        fire(at: now)
        let old = controllers[id.index].transmitPower
        let new = max(-127, min(power, controllers[id.index].configuration.transmitPower))
        guard new != old else { return }
        controllers[id.index].transmitPower = new
        refreshContacts(of: id.index, at: now)
        let delta = Int8(clamping: Int(new) - Int(old))
        for link in links.indices where links[link].isInUse {
            guard let sender = links[link].role(of: id.index) else { continue }
            for role in LinkRole.allCases where links[link][role].isOpen {
                let power = links[link][role].power
                guard role == sender ? power.reportsLocal : power.reportsRemote, hasPowerControl(link) else { continue }
                report(
                    of: sender, to: role, on: link, reason: role == sender ? 0 : 1,
                    PowerLevelPHY(rawValue: links[link][sender].transmitPHY.rawValue), delta: delta)
            }
        }
    }

    mutating func performPowerCommand(
        _ command: borrowing HCICommandPacket, on index: Int, at now: Instant
    ) throws(DecodingFailure) {
        let opcode = command.opcode
        switch opcode {
        case .leEnhancedReadTransmitPowerLevel:
            let read = try command.decode(as: LEEnhancedReadTransmitPowerLevel.self)
            guard find(read.connectionHandle, on: index) != nil else {
                return controllers[index].refuse(opcode, .unknownConnectionIdentifier)
            }
            controllers[index].complete(
                LEEnhancedReadTransmitPowerLevel.self,
                returning: .init(
                    connectionHandle: read.connectionHandle, phy: read.phy,
                    currentTransmitPowerLevel: controllers[index].transmitPower,
                    maxTransmitPowerLevel: controllers[index].configuration.transmitPower))
        case .leReadRemoteTransmitPowerLevel:
            let read = try command.decode(as: LEReadRemoteTransmitPowerLevel.self)
            let status = start(.powerControl(read.phy), read.connectionHandle, on: index, at: now)
            controllers[index].acknowledge(opcode, status)
        case .leSetPathLossReportingParameters:
            let parameters = try command.decode(as: LESetPathLossReportingParameters.self)
            let handle = parameters.connectionHandle
            guard let (link, role) = find(handle, on: index) else {
                return controllers[index].complete(opcode, .unknownConnectionIdentifier, handle)
            }
            guard parameters.isValid else {
                return controllers[index].complete(opcode, .invalidCommandParameters, handle)
            }
            links[link][role].power.thresholds = parameters
            links[link][role].power.zone = nil
            controllers[index].complete(opcode, .success, handle)
            refreshZone(link, role, at: now)
        case .leSetPathLossReportingEnable:
            let enable = try command.decode(as: LESetPathLossReportingEnable.self)
            let handle = enable.connectionHandle
            guard let (link, role) = find(handle, on: index) else {
                return controllers[index].complete(opcode, .unknownConnectionIdentifier, handle)
            }
            guard links[link][role].power.thresholds != nil else {
                return controllers[index].complete(opcode, .commandDisallowed, handle)
            }
            links[link][role].power.reportsPathLoss = enable.isEnabled
            links[link][role].power.zone = nil
            controllers[index].complete(opcode, .success, handle)
            refreshZone(link, role, at: now)
        case .leSetTransmitPowerReportingEnable:
            let enable = try command.decode(as: LESetTransmitPowerReportingEnable.self)
            let handle = enable.connectionHandle
            guard let (link, role) = find(handle, on: index) else {
                return controllers[index].complete(opcode, .unknownConnectionIdentifier, handle)
            }
            links[link][role].power.reportsLocal = enable.reportsLocal
            links[link][role].power.reportsRemote = enable.reportsRemote
            controllers[index].complete(opcode, .success, handle)
        default: controllers[index].acknowledge(opcode, .unknownCommand)
        }
    }

    // MARK: - Transmit power

    /// The peer has answered the power control request, or does not support it.
    mutating func finishPowerControl(_ phy: PowerLevelPHY, on link: Int, _ role: LinkRole) {
        guard hasPowerControl(link) else {
            let end = links[link][role]
            return controllers[end.controller].reportTransmitPower(
                LETransmitPowerReporting(
                    status: .unsupportedRemoteFeature, connectionHandle: end.handle, reason: 2, phy: phy,
                    transmitPowerLevel: 0, levelFlags: 0, delta: 0))
        }
        report(of: role.other, to: role, on: link, reason: 2, phy, delta: 0)
    }

    private func hasPowerControl(_ link: Int) -> Bool {
        LinkRole.allCases.allSatisfy {
            controllers[links[link][$0].controller].configuration.features.contains(.powerControlRequest)
        }
    }

    private mutating func report(
        of sender: LinkRole, to role: LinkRole, on link: Int, reason: UInt8, _ phy: PowerLevelPHY, delta: Int8
    ) {
        let source = controllers[links[link][sender].controller]
        let isMaximum = source.transmitPower == source.configuration.transmitPower
        let end = links[link][role]
        controllers[end.controller].reportTransmitPower(
            LETransmitPowerReporting(
                connectionHandle: end.handle, reason: reason, phy: phy, transmitPowerLevel: source.transmitPower,
                levelFlags: isMaximum ? 2 : 0, delta: delta))
    }

    // MARK: - Path loss

    /// The path loss from or to a controller has changed.
    mutating func refreshZones(of controller: Int, at now: Instant) {
        for link in links.indices where links[link].isInUse && links[link].role(of: controller) != nil {
            for role in LinkRole.allCases { refreshZone(link, role, at: now) }
        }
    }

    /// Reports a new zone once it has lasted for the minimum time that the host requested.
    private mutating func refreshZone(_ link: Int, _ role: LinkRole, at now: Instant) {
        let isDue = links[link].isInProgress(role) { $0.isSameKind(as: .pathLossZone) }
        guard links[link][role].isOpen, links[link][role].power.reportsPathLoss || isDue else { return }
        links[link].procedures.removeAll { $0.initiator == role && $0.step.isSameKind(as: .pathLossZone) }
        let power = links[link][role].power
        if power.reportsPathLoss, let thresholds = power.thresholds,
            power.zone(of: pathLoss(to: role, on: link)) != power.zone
        {
            links[link].schedule(
                .pathLossZone, from: role,
                at: links[link].event(after: now, for: role.other, skipping: UInt64(thresholds.minTimeSpent)))
        }
        reschedule(link)
    }

    mutating func finishPathLossZone(on link: Int, _ role: LinkRole) {
        let loss = pathLoss(to: role, on: link)
        let zone = links[link][role].power.zone(of: loss)
        links[link][role].power.zone = zone
        let end = links[link][role]
        controllers[end.controller].reportPathLoss(end.handle, UInt8(clamping: min(loss, 0xFE)), zone)
    }

    private func pathLoss(to role: LinkRole, on link: Int) -> Int {
        Int(propagation[from: links[link][role.other].controller, to: links[link][role].controller])
    }
}
