import BluetoothBase
import BluetoothHCI

extension VirtualController {
    /// Answers the commands that read fixed properties of the controller (Core 5.4, Vol 4, Part E, 7.4 and 7.8).
    mutating func answerInformation(_ command: borrowing HCICommandPacket) throws(DecodingFailure) {
        switch command.opcode {
        case .readLocalVersionInformation:
            complete(
                ReadLocalVersionInformation.self,
                returning: .init(
                    hciVersion: configuration.version, hciSubversion: configuration.subversion,
                    lmpVersion: configuration.version, companyIdentifier: configuration.companyIdentifier,
                    lmpSubversion: configuration.subversion))
        case .readLocalSupportedCommands:
            complete(ReadLocalSupportedCommands.self, returning: .init(supportedCommands: supportedCommands))
        case .readLocalSupportedFeatures:
            complete(
                ReadLocalSupportedFeatures.self, returning: .init(features: [.brEDRNotSupported, .leSupported]))
        case .readBufferSize:
            complete(
                ReadBufferSize.self,
                returning: .init(
                    aclDataPacketLength: configuration.aclDataLength, synchronousDataPacketLength: 0,
                    totalACLDataPackets: UInt16(configuration.aclBufferCount), totalSynchronousDataPackets: 0))
        case .readBDADDR:
            complete(ReadBDADDR.self, returning: .init(address: configuration.publicAddress))
        case .leReadBufferSize:
            let isShared = configuration.sharesBuffersWithBREDR
            complete(
                LEReadBufferSize.self,
                returning: .init(
                    aclDataPacketLength: isShared ? 0 : configuration.aclDataLength,
                    totalACLDataPackets: isShared ? 0 : configuration.aclBufferCount))
        case .leReadLocalSupportedFeatures:
            complete(LEReadLocalSupportedFeatures.self, returning: .init(features: configuration.reportedFeatures))
        case .leReadAdvertisingPhysicalChannelTxPower:
            complete(
                LEReadAdvertisingPhysicalChannelTxPower.self,
                returning: .init(transmitPowerLevel: configuration.transmitPower))
        case .leReadSupportedStates:
            // All combinations of advertising, scanning, initiating and both roles (7.8.27).
            complete(LEReadSupportedStates.self, returning: .init(states: LEStates(rawValue: 0x03FF_FFFF_FFFF)))
        case .leReadTransmitPower:
            complete(
                LEReadTransmitPower.self,
                returning: .init(
                    minTransmitPower: configuration.transmitPower, maxTransmitPower: configuration.transmitPower))
        case .leReadFilterAcceptListSize:
            complete(LEReadFilterAcceptListSize.self, returning: .init(size: configuration.filterAcceptListSize))
        case .leReadResolvingListSize:
            complete(LEReadResolvingListSize.self, returning: .init(size: configuration.resolvingListSize))
        case .leReadMaximumDataLength:
            let longest = LEDataLength(octets: LinkEnd.maximumOctets)
            complete(LEReadMaximumDataLength.self, returning: .init(transmit: longest, receive: longest))
        default:
            acknowledge(command.opcode, .unknownCommand)
        }
    }
}
