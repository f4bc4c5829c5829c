import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

/// A command, its packet, and what a controller returns for it after the status octet.
struct CommandSample: Sendable, CustomTestStringConvertible {
    let command: any HCICommand
    let packet: [UInt8]
    let returnParameters: any HCIReturnParameters
    let returned: [UInt8]

    init<Command: HCICommand>(
        _ command: Command, _ packet: String, returns returnParameters: Command.ReturnParameters, _ returned: String
    ) {
        self.command = command
        self.packet = bytes(packet)
        self.returnParameters = returnParameters
        self.returned = bytes(returned)
    }

    init<Command: HCICommand>(_ command: Command, _ packet: String)
    where Command.ReturnParameters == NoReturnParameters {
        self.init(command, packet, returns: NoReturnParameters(), "")
    }

    var opcode: HCIOpcode { type(of: command).opcode }
    var testDescription: String { opcode.description }
}

let publicPeer = DeviceAddress(0x0011_2233_4455, kind: .public)
let randomPeer = DeviceAddress(0xC011_2233_4455, kind: .random)
let key: UInt128 = 0x0F0E_0D0C_0B0A_0908_0706_0504_0302_0100
let connectionParameters = LEConnectionParameters(
    intervalMin: .init(rawValue: 24), intervalMax: .init(rawValue: 40), maxLatency: 1,
    supervisionTimeout: .init(rawValue: 500), minCELength: 2, maxCELength: 3)

enum CommandSamples {
    static let all =
        link + controller + leController + advertising + connection + security + extended
        + periodic + power

    static let link: [CommandSample] = [
        .init(Disconnect(connectionHandle: 0x0040), "01 06 04 03 40 00 13"),
        .init(ReadRemoteVersionInformation(connectionHandle: 0x0040), "01 1D 04 02 40 00"),
        .init(
            ReadTransmitPowerLevel(connectionHandle: 0x0EFF, type: .maximum), "01 2D 0C 03 FF 0E 01",
            returns: .init(connectionHandle: 0x0EFF, transmitPowerLevel: -4), "FF 0E FC"),
        .init(
            ReadRSSI(connectionHandle: 0x0040), "01 05 14 02 40 00",
            returns: .init(connectionHandle: 0x0040, rssi: -60), "40 00 C4"),
    ]

    static let controller: [CommandSample] = [
        .init(SetEventMask(eventMask: [.disconnectionComplete, .leMeta]), "01 01 0C 08 10 00 00 00 00 00 00 20"),
        .init(Reset(), "01 03 0C 00"),
        .init(SetControllerToHostFlowControl(flowControl: .acl), "01 31 0C 01 01"),
        .init(
            HostBufferSize(aclDataPacketLength: 0x0102, totalACLDataPackets: 16), "01 33 0C 07 02 01 00 10 00 00 00"),
        .init(
            HostNumberOfCompletedPackets(links: [
                .init(connectionHandle: 0x0040, count: 1), .init(connectionHandle: 0x0041, count: 0x0203),
            ]), "01 35 0C 09 02 40 00 01 00 41 00 03 02"),
        .init(SetEventMaskPage2(eventMask: .encryptionChangeV2), "01 63 0C 08 00 00 00 02 00 00 00 00"),
        .init(WriteLEHostSupport(isLESupported: true), "01 6D 0C 02 01 00"),
        .init(
            ReadLocalVersionInformation(), "01 01 10 00",
            returns: .init(
                hciVersion: .v54, hciSubversion: 0x1234, lmpVersion: .v50, companyIdentifier: 0x05F1,
                lmpSubversion: 0x5678), "0D 34 12 09 F1 05 78 56"),
        .init(
            ReadLocalSupportedCommands(), "01 02 10 00",
            returns: .init(supportedCommands: [.disconnect, .reset, .leRand, .leSetHostFeature]),
            "20 00 00 00 00 80 00 00" + zeros(16) + "00 00 00 80 00 00 00 00" + zeros(8)
                + "00 00 00 00 02 00 00 00" + zeros(16)),
        .init(
            ReadLocalSupportedFeatures(), "01 03 10 00", returns: .init(features: [.brEDRNotSupported, .leSupported]),
            "00 00 00 00 60 00 00 00"),
        .init(
            ReadBufferSize(), "01 05 10 00",
            returns: .init(
                aclDataPacketLength: 1021, synchronousDataPacketLength: 64, totalACLDataPackets: 8,
                totalSynchronousDataPackets: 0x0104), "FD 03 40 08 00 04 01"),
        .init(ReadBDADDR(), "01 09 10 00", returns: .init(address: publicPeer), "55 44 33 22 11 00"),
    ]

    static let leController: [CommandSample] = [
        .init(
            LESetEventMask(eventMask: [.connectionComplete, .channelSelectionAlgorithm]),
            "01 01 20 08 01 00 08 00 00 00 00 00"),
        .init(
            LEReadBufferSize(), "01 02 20 00", returns: .init(aclDataPacketLength: 251, totalACLDataPackets: 12),
            "FB 00 0C"),
        .init(
            LEReadBufferSizeV2(), "01 60 20 00",
            returns: .init(
                aclDataPacketLength: 27, totalACLDataPackets: 3, isoDataPacketLength: 0x0123, totalISODataPackets: 4),
            "1B 00 03 23 01 04"),
        .init(
            LEReadLocalSupportedFeatures(), "01 03 20 00",
            returns: .init(features: [.encryption, .extendedAdvertising, .channelClassification]),
            "01 10 00 00 80 00 00 00"),
        .init(LESetRandomAddress(address: randomPeer), "01 05 20 06 55 44 33 22 11 C0"),
        .init(LESetHostChannelClassification(channelMap: .all), "01 14 20 05 FF FF FF FF 1F"),
        .init(
            LEReadSupportedStates(), "01 1C 20 00", returns: .init(states: .init(rawValue: 0x0000_03FF_FFFF_FFFF)),
            "FF FF FF FF FF 03 00 00"),
        .init(
            LEReadTransmitPower(), "01 4B 20 00", returns: .init(minTransmitPower: -20, maxTransmitPower: 8), "EC 08"),
        .init(LESetHostFeature(bitNumber: 38, isSupported: true), "01 74 20 02 26 01"),
        .init(
            LEReadFilterAcceptListSize(), "01 0F 20 00", returns: .init(size: 8), "08"),
        .init(LEClearFilterAcceptList(), "01 10 20 00"),
        .init(LEAddDeviceToFilterAcceptList(address: randomPeer), "01 11 20 07 01 55 44 33 22 11 C0"),
        .init(LERemoveDeviceFromFilterAcceptList(address: nil), "01 12 20 07 FF 00 00 00 00 00 00"),
        .init(
            LEAddDeviceToResolvingList(peerIdentityAddress: publicPeer, peerIRK: key, localIRK: 0),
            "01 27 20 27 00 55 44 33 22 11 00 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F" + zeros(16)),
        .init(
            LERemoveDeviceFromResolvingList(peerIdentityAddress: randomPeer), "01 28 20 07 01 55 44 33 22 11 C0"),
        .init(LEClearResolvingList(), "01 29 20 00"),
        .init(LEReadResolvingListSize(), "01 2A 20 00", returns: .init(size: 16), "10"),
        .init(LESetAddressResolutionEnable(isEnabled: true), "01 2D 20 01 01"),
        .init(LESetResolvablePrivateAddressTimeout(), "01 2E 20 02 84 03"),
        .init(
            LESetPrivacyMode(peerIdentityAddress: publicPeer, mode: .device), "01 4E 20 08 00 55 44 33 22 11 00 01"),
    ]

    static func zeros(_ count: Int) -> String { String(repeating: " 00", count: count) + " " }
}
