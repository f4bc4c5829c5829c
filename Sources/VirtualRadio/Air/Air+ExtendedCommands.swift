import BluetoothBase
import BluetoothHCI

/// The extended commands that affect the air (Core 5.4, Vol 4, Part E, 7.8.56 and 7.8.64 to 7.8.66).
extension Air {
    mutating func performExtendedCommand(
        _ command: borrowing HCICommandPacket, on index: Int, at now: Instant
    ) throws(DecodingFailure) {
        let opcode = command.opcode
        switch opcode {
        case .leSetExtendedAdvertisingEnable:
            controllers[index].complete(opcode, enableSets(try command.decode(), on: index, at: now))
        case .leSetExtendedScanParameters:
            controllers[index].complete(opcode, controllers[index].setScanParameters(try command.decode()))
        case .leSetExtendedScanEnable:
            let enable = try command.decode(as: LESetExtendedScanEnable.self)
            let status = controllers[index].setScanning(enable, at: now)
            controllers[index].complete(opcode, status)
            guard status == .success else { return }
            let ends = enable.isEnabled && enable.duration > 0 && enable.period == 0
            schedule.set(
                AirTimer(.scan, of: index), to: ends ? now.advanced(by: .milliseconds(10) * Int(enable.duration)) : nil)
        case .leExtendedCreateConnection:
            controllers[index].acknowledge(opcode, createConnection(try command.decode(), on: index, at: now))
        case .leExtendedCreateConnectionV2:
            let status = createConnection(inSubevent: try command.decode(), on: index, at: now)
            controllers[index].acknowledge(opcode, status)
        default: try controllers[index].changeSets(command)
        }
    }

    private mutating func enableSets(
        _ command: LESetExtendedAdvertisingEnable, on index: Int, at now: Instant
    ) -> HCIStatus {
        let handles = command.sets.map(\.advertisingHandle)
        guard Set(handles).count == handles.count, !command.isEnabled || !handles.isEmpty else {
            return .invalidCommandParameters
        }
        if !command.isEnabled, handles.isEmpty {
            for slot in controllers[index].settings.existingSets { stopAdvertising(index, slot) }
            return .success
        }
        var slots: [Int] = []
        for set in command.sets {
            guard let slot = controllers[index].slot(of: set.advertisingHandle) else {
                return .unknownAdvertisingIdentifier
            }
            let status = command.isEnabled ? controllers[index].mayEnable(slot, set) : .success
            guard status == .success else { return status }
            slots.append(slot)
        }
        for (slot, set) in zip(slots, command.sets) {
            guard command.isEnabled else {
                stopAdvertising(index, slot)
                continue
            }
            controllers[index].settings.advertisers[slot].maximumEvents = set.maxExtendedAdvertisingEvents
            let duration = set.duration == 0 ? nil : Duration.milliseconds(10) * Int(set.duration)
            startAdvertising(index, slot, for: duration, at: now)
        }
        return .success
    }

    private mutating func createConnection(
        _ command: LEExtendedCreateConnection, on index: Int, at now: Instant
    ) -> HCIStatus {
        let initiator = InitiatingState(command, start: now)
        // A controller does not scan on LE 2M.
        let listening = [initiator.le1M, initiator.leCoded].compactMap { $0 }
        guard !listening.isEmpty, listening.allSatisfy(\.timing.isValidExtended) else {
            return .invalidCommandParameters
        }
        return begin(initiator, command, on: index)
    }

    /// LE Extended Create Connection, version 2 (7.8.66).
    private mutating func createConnection(
        inSubevent command: LEExtendedCreateConnectionV2, on index: Int, at now: Instant
    ) -> HCIStatus {
        guard let slot = controllers[index].slot(of: command.advertisingHandle) else {
            return .unknownAdvertisingIdentifier
        }
        let set = controllers[index].settings.advertisers[slot]
        guard set.periodic.isOnAir else { return .commandDisallowed }
        var initiator = InitiatingState(command.connection, start: now)
        guard command.subevent < set.periodic.subeventCount, initiator.peerAddress != nil, initiator[set.dataPHY] != nil
        else {
            return .invalidCommandParameters
        }
        initiator.subevent = (slot, command.subevent)
        return begin(initiator, command.connection, on: index)
    }

    private mutating func begin(
        _ initiator: InitiatingState, _ command: LEExtendedCreateConnection, on index: Int
    ) -> HCIStatus {
        let asked = [command.le1M, command.le2M, command.leCoded].compactMap { $0 }
        guard asked.allSatisfy(\.connectionParameters.isValid) else { return .invalidCommandParameters }
        let configuration = controllers[index].configuration
        guard initiator.leCoded == nil || configuration.receives(.leCoded),
            initiator.le2M == nil || configuration.receives(.le2M)
        else { return .unsupportedFeatureOrParameterValue }
        return begin(initiator, on: index)
    }
}

extension InitiatingState {
    fileprivate init(_ command: LEExtendedCreateConnection, start: Instant) {
        self.init(
            le1M: command.le1M.map(PHY.init), le2M: command.le2M.map(PHY.init), leCoded: command.leCoded.map(PHY.init),
            isExtended: true, peerAddress: command.filterPolicy == .peerAddress ? command.peerAddress : nil,
            ownAddressType: command.ownAddressType, start: start)
    }
}

extension InitiatingState.PHY {
    fileprivate init(_ parameters: LEExtendedCreateConnection.PHYParameters) {
        self.init(
            timing: ScanTiming(interval: parameters.scanInterval, window: parameters.scanWindow),
            parameters: parameters.connectionParameters.chosen)
    }
}

extension VirtualController {
    fileprivate mutating func setScanParameters(_ command: LESetExtendedScanParameters) -> HCIStatus {
        guard !isScanning else { return .commandDisallowed }
        let each = [command.le1M, command.leCoded].compactMap { $0.map(ScanningState.Listening.init) }
        guard !each.isEmpty, each.allSatisfy(\.timing.isValidExtended) else { return .invalidCommandParameters }
        guard command.leCoded == nil || configuration.receives(.leCoded) else {
            return .unsupportedFeatureOrParameterValue
        }
        settings.scanner.isExtended = true
        settings.scanner.le1M = command.le1M.map(ScanningState.Listening.init)
        settings.scanner.leCoded = command.leCoded.map(ScanningState.Listening.init)
        settings.scanner.ownAddressType = command.ownAddressType
        settings.scanner.filterPolicy = command.filterPolicy
        return .success
    }

    fileprivate mutating func setScanning(_ command: LESetExtendedScanEnable, at now: Instant) -> HCIStatus {
        let duration = Duration.milliseconds(10) * Int(command.duration)
        let period = Duration.milliseconds(1280) * Int(command.period)
        if command.isEnabled {
            guard command.period == 0 || command.duration > 0 && duration < period,
                command.filterDuplicates != .resetEachPeriod || command.period > 0
            else { return .invalidCommandParameters }
        }
        let status = setScanning(
            LESetScanEnable(isEnabled: command.isEnabled, filterDuplicates: command.filterDuplicates != .disabled),
            at: now)
        guard status == .success else { return status }
        settings.scanner.duration = command.period == 0 ? nil : duration
        settings.scanner.period = command.period == 0 ? nil : period
        settings.scanner.forgetsEachPeriod = command.filterDuplicates == .resetEachPeriod
        return .success
    }
}

extension ScanningState.Listening {
    fileprivate init(_ parameters: LESetExtendedScanParameters.PHYParameters) {
        self.init(
            type: parameters.type, timing: ScanTiming(interval: parameters.interval, window: parameters.window))
    }
}
