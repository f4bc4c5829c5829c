import BluetoothBase
import BluetoothHCI

/// How a controller answers commands (Core 5.4, Vol 4, Part E, 4.5).
extension VirtualController {
    /// Answers with Command Complete and return parameters.
    mutating func complete<Command: HCICommand>(
        _ command: Command.Type, _ status: HCIStatus = .success, returning parameters: Command.ReturnParameters
    ) {
        guard reachesHost else { return }
        Command.encodeCompletion(
            status: status, returning: parameters, numHCICommandPackets: configuration.commandCredits,
            into: &outbox.writer)
        outbox.commit()
    }

    /// Answers with Command Complete and only a status.
    mutating func complete(_ opcode: HCIOpcode, _ status: HCIStatus) {
        let parameters = [status.rawValue]
        send(
            CommandComplete(
                numHCICommandPackets: configuration.commandCredits, opcode: opcode, returnParameters: parameters.span))
    }

    /// Answers with Command Complete, a status and the command's connection handle.
    mutating func complete(_ opcode: HCIOpcode, _ status: HCIStatus, _ handle: ConnectionHandle) {
        let raw = handle.rawValue
        let parameters = [status.rawValue, UInt8(truncatingIfNeeded: raw), UInt8(truncatingIfNeeded: raw >> 8)]
        send(
            CommandComplete(
                numHCICommandPackets: configuration.commandCredits, opcode: opcode, returnParameters: parameters.span))
    }

    /// Answers with Command Status: the command is in progress, or failed.
    mutating func acknowledge(_ opcode: HCIOpcode, _ status: HCIStatus) {
        send(CommandStatus(status: status, numHCICommandPackets: configuration.commandCredits, opcode: opcode))
    }

    /// Reports that a command failed, with the event type that answers this command.
    mutating func refuse(_ opcode: HCIOpcode, _ status: HCIStatus) {
        switch opcode {
        case .disconnect, .readRemoteVersionInformation, .leCreateConnection, .leExtendedCreateConnection,
            .leExtendedCreateConnectionV2, .leConnectionUpdate,
            .leReadRemoteFeatures, .leEnableEncryption, .leSetPHY, .lePeriodicAdvertisingCreateSync,
            .leReadRemoteTransmitPowerLevel:
            acknowledge(opcode, status)
        default:
            complete(opcode, status)
        }
    }

    // MARK: - Capacity

    /// Whether the controller's packets reach its host.
    var reachesHost: Bool { isPresent && !faults.isSilent }

    /// Whether the host reads its packets fast enough to accept data from the air.
    @inline(__always)
    var hasRoomForData: Bool { outbox.count < configuration.maximumWaitingPackets }

    /// Whether there is room for the consequences of a packet from the host: the answer to a command, or the report
    /// that a buffer is free again. The controller does not serve a host that keeps sending without reading.
    @inline(__always)
    var hasRoomForAnswers: Bool { outbox.count < 4 * configuration.maximumWaitingPackets + 64 }
}
