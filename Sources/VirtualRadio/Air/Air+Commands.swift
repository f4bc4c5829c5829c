import BluetoothBase
import BluetoothHCI

extension Air {
    /// The number of commands that may wait for `responseDelay`. A host that respects its command credits never reaches
    /// this limit.
    private static let maximumWaitingCommands = 16

    /// Receives a command packet, H4 indicator first.
    mutating func receiveCommand(_ packet: Span<UInt8>, from index: Int, at now: Instant) {
        if receiveHostCredits(packet.extracting(droppingFirst: 1), from: index, at: now) { return }
        guard !controllers[index].faults.ignoresCommands, controllers[index].hasRoomForAnswers else { return }
        guard controllers[index].commandDelay > .zero || !controllers[index].inbox.isEmpty else {
            return perform(packet.extracting(droppingFirst: 1), on: index, at: now)
        }
        guard controllers[index].inbox.count < Self.maximumWaitingCommands else { return }
        if controllers[index].inbox.isEmpty { scheduleNextCommand(on: index, at: now) }
        controllers[index].inbox.append(packet.extracting(droppingFirst: 1))
    }

    mutating func performNextCommand(on index: Int, at time: Instant) {
        guard let packet = controllers[index].inbox.popFirst() else { return }
        if !controllers[index].inbox.isEmpty { scheduleNextCommand(on: index, at: time) }
        guard !controllers[index].faults.ignoresCommands else { return }
        perform(packet.span, on: index, at: time)
    }

    private mutating func scheduleNextCommand(on index: Int, at time: Instant) {
        let due = time.advanced(by: controllers[index].commandDelay)
        schedule.set(AirTimer(.command, of: index), to: due)
    }

    /// Performs a command and sends the answer. A packet with a wrong length is not answered.
    private mutating func perform(_ packet: Span<UInt8>, on index: Int, at now: Instant) {
        guard let command = try? HCICommandPacket(decoding: packet) else { return }
        guard controllers[index].supportedCommands.contains(command.opcode) else {
            return controllers[index].acknowledge(command.opcode, .unknownCommand)
        }
        do {
            try perform(command, on: index, at: now)
        } catch {
            controllers[index].refuse(command.opcode, .invalidCommandParameters)
        }
    }

    /// The commands that affect the air. Commands that affect only the controller are in
    /// `VirtualController+Commands.swift`, and commands about a link in `Air+LinkCommands.swift`.
    private mutating func perform(
        _ command: borrowing HCICommandPacket, on index: Int, at now: Instant
    ) throws(DecodingFailure) {
        let opcode = command.opcode
        guard controllers[index].admitsKind(of: opcode) else {
            return controllers[index].refuse(opcode, .commandDisallowed)
        }
        switch opcode {
        case .reset:
            shutDown(index, at: now)
            controllers[index].complete(opcode, .success)
        case .hostBufferSize:
            try controllers[index].perform(command)
            resumeHeldLinks(of: index, at: now)
        case .leSetAdvertisingEnable:
            let isEnabled = try command.decode(as: LESetAdvertisingEnable.self).isEnabled
            controllers[index].complete(opcode, setAdvertising(isEnabled, on: index, at: now))
        case .leSetScanEnable:
            controllers[index].complete(opcode, controllers[index].setScanning(try command.decode(), at: now))
        case .leCreateConnection:
            controllers[index].acknowledge(opcode, createConnection(try command.decode(), on: index, at: now))
        case .leSetExtendedAdvertisingEnable, .leSetExtendedScanParameters, .leSetExtendedScanEnable,
            .leExtendedCreateConnection, .leExtendedCreateConnectionV2, .leReadMaximumAdvertisingDataLength,
            .leReadNumberOfSupportedAdvertisingSets, .leSetExtendedAdvertisingParameters,
            .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData,
            .leRemoveAdvertisingSet, .leClearAdvertisingSets:
            try performExtendedCommand(command, on: index, at: now)
        case _ where SupportedCommands.periodic.contains(opcode):
            try performPeriodicCommand(command, on: index, at: now)
        case .leCreateConnectionCancel:
            guard controllers[index].isInitiating else {
                return controllers[index].complete(opcode, .commandDisallowed)
            }
            controllers[index].settings.initiator = nil
            controllers[index].complete(opcode, .success)
            controllers[index].reportConnectionFailure(.unknownConnectionIdentifier, role: .central)
        case .disconnect, .readRemoteVersionInformation, .readTransmitPowerLevel, .readRSSI, .leConnectionUpdate,
            .leReadChannelMap, .leReadRemoteFeatures, .leEnableEncryption, .leLongTermKeyRequestReply,
            .leLongTermKeyRequestNegativeReply, .leRemoteConnectionParameterRequestReply,
            .leRemoteConnectionParameterRequestNegativeReply, .leSetDataLength, .leReadPHY, .leSetPHY,
            .leEnhancedReadTransmitPowerLevel, .leReadRemoteTransmitPowerLevel, .leSetPathLossReportingParameters,
            .leSetPathLossReportingEnable, .leSetTransmitPowerReportingEnable:
            try performLinkCommand(command, on: index, at: now)
        default:
            try controllers[index].perform(command)
        }
    }

    private mutating func setAdvertising(_ isEnabled: Bool, on index: Int, at now: Instant) -> HCIStatus {
        guard isEnabled else {
            stopAdvertising(index)
            return .success
        }
        let parameters = controllers[index].settings.advertiser.parameters
        guard controllers[index].ownAddress(parameters.ownAddressType) != nil else {
            return .invalidCommandParameters
        }
        guard !controllers[index].settings.advertiser.isConnectable || controllers[index].freeConnectionSlot != nil
        else {
            return .connectionLimitExceeded
        }
        startAdvertising(index, at: now)
        return .success
    }

    private mutating func createConnection(
        _ command: LECreateConnection, on index: Int, at now: Instant
    ) -> HCIStatus {
        let timing = ScanTiming(interval: command.scanInterval, window: command.scanWindow)
        guard timing.isValid, command.connectionParameters.isValid else {
            return controllers[index].mayInitiate ? .invalidCommandParameters : .commandDisallowed
        }
        let initiator = InitiatingState(
            le1M: InitiatingState.PHY(timing: timing, parameters: command.connectionParameters.chosen),
            peerAddress: command.filterPolicy == .peerAddress ? command.peerAddress : nil,
            ownAddressType: command.ownAddressType, start: now)
        return begin(initiator, on: index)
    }

    /// Starts initiating. Shared by all commands that create a connection.
    mutating func begin(_ initiator: InitiatingState, on index: Int) -> HCIStatus {
        guard controllers[index].mayInitiate else { return .commandDisallowed }
        guard controllers[index].ownAddress(initiator.ownAddressType) != nil else { return .invalidCommandParameters }
        guard controllers[index].freeConnectionSlot != nil else { return .connectionLimitExceeded }
        let isConnected = links.contains { link in
            guard link.isInUse, let role = link.role(of: index), let peer = initiator.peerAddress else { return false }
            let address = link[role.other].address
            return (controllers[index].device(at: address)?.lastingAddress ?? address) == peer.unresolved
        }
        guard !isConnected else { return .connectionAlreadyExists }
        controllers[index].settings.initiator = initiator
        return .success
    }
}

extension VirtualController {
    /// Whether the controller may scan or initiate, where `isBusy` states whether it already does the other.
    fileprivate func mayCombine(with isBusy: Bool) -> Bool { configuration.scansWhileConnecting || !isBusy }

    fileprivate var mayInitiate: Bool { !isInitiating && mayCombine(with: isScanning) }

    mutating func setScanning(_ command: LESetScanEnable, at now: Instant) -> HCIStatus {
        guard !command.isEnabled || ownAddress(settings.scanner.ownAddressType) != nil else {
            return .invalidCommandParameters
        }
        guard !command.isEnabled || mayCombine(with: isInitiating) else { return .commandDisallowed }
        if command.isEnabled, !isScanning { settings.scanner.start = now }
        settings.scanner.isEnabled = command.isEnabled
        settings.scanner.filtersDuplicates = command.filterDuplicates
        settings.scanner.duplicates.removeAll()
        return .success
    }
}
