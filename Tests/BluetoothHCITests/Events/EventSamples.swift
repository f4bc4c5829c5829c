import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

/// An event's packet and the value that encodes to it; its shortest decodable parameters may be shorter than all of
/// them where the event is a list read one element at a time.
struct EventSample: Sendable, CustomTestStringConvertible {
    let name: String
    let packet: [UInt8]
    /// How many octets of parameters decoding requires; fewer must throw.
    let requiredLength: Int
    let encode: @Sendable (inout ByteWriter) -> Void

    init<Body: HCIEventBody & Sendable>(_ body: Body, _ packet: String, requiredLength: Int? = nil) {
        name = "\(Body.self)"
        self.packet = bytes(packet)
        self.requiredLength = requiredLength ?? self.packet.count - 3
        encode = { body.encodePacket(into: &$0) }
    }

    init(
        _ name: String, _ packet: String, requiredLength: Int, encode: @escaping @Sendable (inout ByteWriter) -> Void
    ) {
        self.name = name
        self.packet = bytes(packet)
        self.requiredLength = requiredLength
        self.encode = encode
    }

    var testDescription: String { name }
}

enum EventSamples {
    static let all = link + controller + le + lists + periodic + periodicLists

    static let link: [EventSample] = [
        .init(DisconnectionComplete(connectionHandle: 0x0040, reason: .connectionTimeout), "04 05 04 00 40 00 08"),
        .init(EncryptionChange(connectionHandle: 0x0040, encryption: .on), "04 08 04 00 40 00 01"),
        .init(
            EncryptionChangeV2(status: .pinOrKeyMissing, connectionHandle: 0x0040, encryption: .off, keySize: 16),
            "04 59 05 06 40 00 00 10"),
        .init(EncryptionKeyRefreshComplete(connectionHandle: 0x0040), "04 30 03 00 40 00"),
        .init(
            ReadRemoteVersionInformationComplete(
                connectionHandle: 0x0040, version: .v53, companyIdentifier: 0x004C, subversion: 0x1234),
            "04 0C 08 00 40 00 0C 4C 00 34 12"),
    ]

    static let controller: [EventSample] = [
        .init("CommandComplete", "04 0E 04 02 03 0C 00", requiredLength: 3) {
            let returned: [UInt8] = [0]
            CommandComplete(numHCICommandPackets: 2, opcode: .reset, returnParameters: returned.span)
                .encodePacket(into: &$0)
        },
        .init(
            CommandStatus(status: .commandDisallowed, numHCICommandPackets: 1, opcode: .leCreateConnection),
            "04 0F 04 0C 01 0D 20"),
        .init(HardwareError(hardwareCode: 0x42), "04 10 01 42"),
        .init(DataBufferOverflow(linkType: 1), "04 1A 01 01"),
    ]

    static let le: [EventSample] = [
        .init(
            LEConnectionComplete(
                connectionHandle: 0x0040, role: .peripheral, peerAddress: randomPeer,
                interval: .init(rawValue: 24), latency: 1, supervisionTimeout: .init(rawValue: 500),
                centralClockAccuracy: .init(rawValue: 5)),
            "04 3E 13 01 00 40 00 01 01 55 44 33 22 11 C0 18 00 01 00 F4 01 05"),
        .init(
            LEConnectionUpdateComplete(
                connectionHandle: 0x0040, interval: .init(rawValue: 24), latency: 1,
                supervisionTimeout: .init(rawValue: 500)), "04 3E 0A 03 00 40 00 18 00 01 00 F4 01"),
        .init(
            LEReadRemoteFeaturesComplete(connectionHandle: 0x0040, features: [.encryption, .le2MPHY]),
            "04 3E 0C 04 00 40 00 01 01 00 00 00 00 00 00"),
        .init(
            LELongTermKeyRequest(
                connectionHandle: 0x0040, randomNumber: 0x0807_0605_0403_0201, encryptedDiversifier: 0x2474),
            "04 3E 0D 05 40 00 01 02 03 04 05 06 07 08 74 24"),
        .init(
            LERemoteConnectionParameterRequest(
                connectionHandle: 0x0040, intervalMin: .init(rawValue: 6), intervalMax: .init(rawValue: 12),
                supervisionTimeout: .init(rawValue: 100)), "04 3E 0B 06 40 00 06 00 0C 00 00 00 64 00"),
        .init(
            LEDataLengthChange(
                connectionHandle: 0x0040, transmit: .init(octets: 251, time: 2120),
                receive: .init(octets: 27, time: 328)), "04 3E 0B 07 40 00 FB 00 48 08 1B 00 48 01"),
        .init(
            enhancedConnectionComplete,
            "04 3E 1F 0A 00 40 00 00 03 55 44 33 22 11 C0 00 00 00 00 00 00 66 55 44 33 22 41 18 00 00 00 F4 01 00"),
        .init(
            LEPHYUpdateComplete(connectionHandle: 0x0040, transmit: .le2M, receive: .le1M),
            "04 3E 06 0C 00 40 00 02 01"),
        .init(LEScanTimeout(), "04 3E 01 11"),
        .init(
            LEAdvertisingSetTerminated(
                status: .advertisingTimeout, advertisingHandle: .init(2), connectionHandle: 0,
                numCompletedExtendedAdvertisingEvents: 7), "04 3E 06 12 3C 02 00 00 07"),
        .init(
            LEScanRequestReceived(advertisingHandle: .init(2), scannerAddress: publicPeer),
            "04 3E 09 13 02 00 55 44 33 22 11 00"),
        .init(LEChannelSelectionAlgorithm(connectionHandle: 0x0040, algorithm: 1), "04 3E 04 14 40 00 01"),
    ]

    static let lists: [EventSample] = [
        .init("NumberOfCompletedPackets", "04 13 09 02 40 00 01 00 41 00 03 02", requiredLength: 1) {
            let links: [CompletedPackets] = [
                .init(connectionHandle: 0x0040, count: 1), .init(connectionHandle: 0x0041, count: 0x0203),
            ]
            NumberOfCompletedPackets.encodePacket(links.span, into: &$0)
        },
        .init("LEAdvertisingReport", "04 3E 0F 02 01 00 01 55 44 33 22 11 C0 03 02 01 06 C4", requiredLength: 2) {
            let data = bytes("02 01 06")
            LEAdvertisingReport(eventType: .connectableUndirected, address: randomPeer, data: data.span, rssi: -60)
                .encodePacket(into: &$0)
        },
        .init(
            LEDirectedAdvertisingReport(address: randomPeer, directAddress: randomPeer, rssi: -60),
            "04 3E 12 0B 01 01 01 55 44 33 22 11 C0 01 55 44 33 22 11 C0 C4", requiredLength: 2),
        .init(
            "LEExtendedAdvertisingReport",
            "04 3E 1D 0D 01 21 00 FF 00 00 00 00 00 00 01 02 0A 08 C4 00 00 FE 66 55 44 33 22 41 03 02 01 06",
            requiredLength: 2
        ) {
            let data = bytes("02 01 06")
            var report = LEExtendedAdvertisingReport(
                eventType: .connectable, address: nil, rssi: -60, data: data.span)
            report.eventType.dataStatus = .incompleteMoreToCome
            report.secondaryPHY = .le2M
            report.advertisingSID = 10
            report.transmitPower = 8
            report.directAddress = .init(type: 0xFE, value: 0x4122_3344_5566)
            report.encodePacket(into: &$0)
        },
    ]

    private static var enhancedConnectionComplete: LEEnhancedConnectionComplete {
        var event = LEEnhancedConnectionComplete(
            connectionHandle: 0x0040, role: .central,
            peerAddress: DeviceAddress(0xC011_2233_4455, kind: .randomIdentity), interval: .init(rawValue: 24),
            supervisionTimeout: .init(rawValue: 500))
        event.peerResolvablePrivateAddress = DeviceAddress(0x4122_3344_5566, kind: .random)
        return event
    }
}
