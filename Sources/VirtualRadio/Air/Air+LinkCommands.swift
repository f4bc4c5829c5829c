import BluetoothBase
import BluetoothHCI

extension Air {
    /// Performs a command about one link.
    mutating func performLinkCommand(
        _ command: borrowing HCICommandPacket, on index: Int, at now: Instant
    ) throws(DecodingFailure) {
        let opcode = command.opcode
        switch opcode {
        case .readRSSI: try readRSSI(command.decode(), on: index)
        case .readTransmitPowerLevel: try readTransmitPower(command.decode(), on: index)
        case .leReadChannelMap: try readChannelMap(command.decode(), on: index)
        case .leReadPHY: try readPHY(command.decode(), on: index)
        case .disconnect:
            controllers[index].acknowledge(opcode, disconnect(try command.decode(), on: index, at: now))
        case .readRemoteVersionInformation:
            let handle = try command.decode(as: ReadRemoteVersionInformation.self).connectionHandle
            controllers[index].acknowledge(opcode, start(.versionExchange, handle, on: index, at: now))
        case .leReadRemoteFeatures:
            let handle = try command.decode(as: LEReadRemoteFeatures.self).connectionHandle
            controllers[index].acknowledge(opcode, start(.featureExchange, handle, on: index, at: now))
        case .leConnectionUpdate:
            controllers[index].acknowledge(opcode, updateConnection(try command.decode(), on: index, at: now))
        case .leRemoteConnectionParameterRequestReply:
            let reply = try command.decode(as: LERemoteConnectionParameterRequestReply.self)
            let status = acceptParameters(reply, on: index, at: now)
            controllers[index].complete(opcode, status, reply.connectionHandle)
        case .leRemoteConnectionParameterRequestNegativeReply:
            let reply = try command.decode(as: LERemoteConnectionParameterRequestNegativeReply.self)
            let status = rejectParameters(reply, on: index, at: now)
            controllers[index].complete(opcode, status, reply.connectionHandle)
        case .leSetDataLength:
            let request = try command.decode(as: LESetDataLength.self)
            let status = setDataLength(request, on: index, at: now)
            controllers[index].complete(opcode, status, request.connectionHandle)
        case .leSetPHY:
            controllers[index].acknowledge(opcode, setPHY(try command.decode(), on: index, at: now))
        case .leEnableEncryption:
            controllers[index].acknowledge(opcode, enableEncryption(try command.decode(), on: index, at: now))
        case .leLongTermKeyRequestReply:
            let reply = try command.decode(as: LELongTermKeyRequestReply.self)
            let status = answerKeyRequest(reply.connectionHandle, reply.longTermKey, on: index, at: now)
            controllers[index].complete(opcode, status, reply.connectionHandle)
        case .leLongTermKeyRequestNegativeReply:
            let handle = try command.decode(as: LELongTermKeyRequestNegativeReply.self).connectionHandle
            controllers[index].complete(opcode, answerKeyRequest(handle, nil, on: index, at: now), handle)
        default: try performPowerCommand(command, on: index, at: now)
        }
    }

    /// The link with a handle, and the controller's role on it.
    func find(_ handle: ConnectionHandle, on index: Int) -> (link: Int, role: LinkRole)? {
        guard let link = controllers[index].link(of: handle), let role = links[link].role(of: index) else {
            return nil
        }
        return (link, role)
    }

    // MARK: - Reading

    private mutating func readRSSI(_ command: ReadRSSI, on index: Int) {
        let handle = command.connectionHandle
        guard let (link, role) = find(handle, on: index) else {
            return controllers[index].refuse(.readRSSI, .unknownConnectionIdentifier)
        }
        let unavailable: Int8 = 127
        let rssi = measuredRSSI(from: links[link][role.other].controller, at: index) ?? unavailable
        controllers[index].complete(ReadRSSI.self, returning: .init(connectionHandle: handle, rssi: rssi))
    }

    private mutating func readTransmitPower(_ command: ReadTransmitPowerLevel, on index: Int) {
        guard find(command.connectionHandle, on: index) != nil else {
            return controllers[index].refuse(.readTransmitPowerLevel, .unknownConnectionIdentifier)
        }
        controllers[index].complete(
            ReadTransmitPowerLevel.self,
            returning: .init(
                connectionHandle: command.connectionHandle,
                transmitPowerLevel: controllers[index].transmitPower))
    }

    private mutating func readChannelMap(_ command: LEReadChannelMap, on index: Int) {
        guard let (link, _) = find(command.connectionHandle, on: index) else {
            return controllers[index].refuse(.leReadChannelMap, .unknownConnectionIdentifier)
        }
        let central = links[link].central.controller
        controllers[index].complete(
            LEReadChannelMap.self,
            returning: .init(
                connectionHandle: command.connectionHandle, channelMap: controllers[central].settings.channelMap))
    }

    private mutating func readPHY(_ command: LEReadPHY, on index: Int) {
        guard let (link, role) = find(command.connectionHandle, on: index) else {
            return controllers[index].refuse(.leReadPHY, .unknownConnectionIdentifier)
        }
        controllers[index].complete(
            LEReadPHY.self,
            returning: .init(
                connectionHandle: command.connectionHandle, transmit: links[link][role].transmitPHY,
                receive: links[link][role.other].transmitPHY))
    }
}
