import BluetoothBase
import BluetoothHCI
import TestSupport

extension CommandSamples {
    static let connectionParameterBytes = " 18 00 28 00 01 00 F4 01 02 00 03 00"

    static let advertising: [CommandSample] = [
        .init(
            LESetAdvertisingParameters(
                intervalMin: .init(rawValue: 0x20), intervalMax: .init(rawValue: 0x4000),
                type: .connectableDirectedLowDutyCycle, ownAddressType: .random, peerAddress: randomPeer,
                channelMap: [.channel37, .channel39], filterPolicy: .acceptListOnly),
            "01 06 20 0F 20 00 00 40 04 01 01 55 44 33 22 11 C0 05 03"),
        .init(
            LEReadAdvertisingPhysicalChannelTxPower(), "01 07 20 00", returns: .init(transmitPowerLevel: 4), "04"),
        .init(LESetAdvertisingData(data: bytes("02 01 06")), "01 08 20 20 03 02 01 06" + zeros(28)),
        .init(LESetScanResponseData(data: []), "01 09 20 20 00" + zeros(31)),
        .init(LESetAdvertisingEnable(isEnabled: true), "01 0A 20 01 01"),
        .init(
            LESetScanParameters(
                type: .active, interval: .init(rawValue: 0x60), window: .init(rawValue: 0x30),
                ownAddressType: .resolvableOrRandom, filterPolicy: .acceptListAndUnresolvedDirected),
            "01 0B 20 07 01 60 00 30 00 03 03"),
        .init(LESetScanEnable(isEnabled: true, filterDuplicates: false), "01 0C 20 02 01 00"),
    ]

    static let connection: [CommandSample] = [
        .init(
            LECreateConnection(
                scanInterval: .init(rawValue: 0x60), scanWindow: .init(rawValue: 0x30), filterPolicy: .peerAddress,
                peerAddress: randomPeer, ownAddressType: .public, connectionParameters: connectionParameters),
            "01 0D 20 19 60 00 30 00 00 01 55 44 33 22 11 C0 00" + connectionParameterBytes),
        .init(LECreateConnectionCancel(), "01 0E 20 00"),
        .init(
            LEConnectionUpdate(connectionHandle: 0x0040, connectionParameters: connectionParameters),
            "01 13 20 0E 40 00" + connectionParameterBytes),
        .init(
            LEReadChannelMap(connectionHandle: 0x0040), "01 15 20 02 40 00",
            returns: .init(connectionHandle: 0x0040, channelMap: .init(rawValue: 0x12_3456_789A)),
            "40 00 9A 78 56 34 12"),
        .init(LEReadRemoteFeatures(connectionHandle: 0x0040), "01 16 20 02 40 00"),
        .init(
            LERemoteConnectionParameterRequestReply(
                connectionHandle: 0x0040, connectionParameters: connectionParameters),
            "01 20 20 0E 40 00" + connectionParameterBytes, returns: .init(connectionHandle: 0x0040), "40 00"),
        .init(
            LERemoteConnectionParameterRequestNegativeReply(connectionHandle: 0x0040), "01 21 20 03 40 00 3B",
            returns: .init(connectionHandle: 0x0040), "40 00"),
        .init(
            LESetDataLength(connectionHandle: 0x0040, transmit: .init(octets: 251, time: 2120)),
            "01 22 20 06 40 00 FB 00 48 08", returns: .init(connectionHandle: 0x0040), "40 00"),
        .init(
            LEReadSuggestedDefaultDataLength(), "01 23 20 00",
            returns: .init(transmit: .init(octets: 27, time: 328)), "1B 00 48 01"),
        .init(
            LEWriteSuggestedDefaultDataLength(transmit: .init(octets: 251, time: 17040)),
            "01 24 20 04 FB 00 90 42"),
        .init(
            LEReadMaximumDataLength(), "01 2F 20 00",
            returns: .init(transmit: .init(octets: 251, time: 17040), receive: .init(octets: 27, time: 328)),
            "FB 00 90 42 1B 00 48 01"),
        .init(
            LEReadPHY(connectionHandle: 0x0040), "01 30 20 02 40 00",
            returns: .init(connectionHandle: 0x0040, transmit: .le2M, receive: .leCoded), "40 00 02 03"),
        .init(
            LESetDefaultPHY(withoutPreference: .receive, transmit: [.le1M, .le2M], receive: []), "01 31 20 03 02 03 00"
        ),
        .init(
            LESetPHY(connectionHandle: 0x0040, transmit: .le2M, receive: .leCoded, options: .preferS8),
            "01 32 20 07 40 00 00 02 04 02 00"),
    ]

    static let security: [CommandSample] = [
        .init(
            LEEncrypt(key: key, plaintext: 1),
            "01 17 20 20 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 01" + zeros(15),
            returns: .init(encryptedData: key), "00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F"),
        .init(
            LERand(), "01 18 20 00", returns: .init(randomNumber: 0x0807_0605_0403_0201), "01 02 03 04 05 06 07 08"),
        .init(
            LEEnableEncryption(
                connectionHandle: 0x0040, randomNumber: 0x0807_0605_0403_0201, encryptedDiversifier: 0x2474,
                longTermKey: key),
            "01 19 20 1C 40 00 01 02 03 04 05 06 07 08 74 24 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F"),
        .init(
            LELongTermKeyRequestReply(connectionHandle: 0x0040, longTermKey: key),
            "01 1A 20 12 40 00 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F",
            returns: .init(connectionHandle: 0x0040), "40 00"),
        .init(
            LELongTermKeyRequestNegativeReply(connectionHandle: 0x0040), "01 1B 20 02 40 00",
            returns: .init(connectionHandle: 0x0040), "40 00"),
    ]

    static let extended: [CommandSample] = [
        .init(
            LESetAdvertisingSetRandomAddress(advertisingHandle: .init(2), address: randomPeer),
            "01 35 20 07 02 55 44 33 22 11 C0"),
        .init(
            advertisingParameters,
            "01 36 20 19 02 13 00 20 00 00 56 34 12 07 01 00 00 00 00 00 00 00 00 F6 01 00 02 0A 01",
            returns: .init(selectedTransmitPower: -10), "F6"),
        .init(
            LESetExtendedAdvertisingData(advertisingHandle: .init(2), fragment: .init(data: bytes("02 01 06"))),
            "01 37 20 07 02 03 01 03 02 01 06"),
        .init(
            LESetExtendedScanResponseData(
                advertisingHandle: .init(2),
                fragment: .init(operation: .first, minimizesFragmentation: false, data: bytes("AA"))),
            "01 38 20 05 02 01 00 01 AA"),
        .init(
            LESetExtendedAdvertisingEnable(
                isEnabled: true,
                sets: [
                    .init(advertisingHandle: .init(2)),
                    .init(advertisingHandle: .init(3), duration: 0x0102, maxExtendedAdvertisingEvents: 5),
                ]), "01 39 20 0A 01 02 02 00 00 00 03 02 01 05"),
        .init(LEReadMaximumAdvertisingDataLength(), "01 3A 20 00", returns: .init(length: 1650), "72 06"),
        .init(LEReadNumberOfSupportedAdvertisingSets(), "01 3B 20 00", returns: .init(count: 4), "04"),
        .init(LERemoveAdvertisingSet(advertisingHandle: .init(2)), "01 3C 20 01 02"),
        .init(LEClearAdvertisingSets(), "01 3D 20 00"),
        .init(
            LESetExtendedScanParameters(
                ownAddressType: .random,
                le1M: .init(type: .active, interval: .init(rawValue: 0x60), window: .init(rawValue: 0x30)),
                leCoded: .init(type: .passive, interval: .init(rawValue: 0x120), window: .init(rawValue: 0x90))),
            "01 41 20 0D 01 00 05 01 60 00 30 00 00 20 01 90 00"),
        .init(
            LESetExtendedScanEnable(isEnabled: true, filterDuplicates: .resetEachPeriod, duration: 0x64, period: 8),
            "01 42 20 06 01 02 64 00 08 00"),
        .init(
            LEExtendedCreateConnection(
                ownAddressType: .random, peerAddress: randomPeer,
                le1M: .init(
                    scanInterval: .init(rawValue: 0x60), scanWindow: .init(rawValue: 0x30),
                    connectionParameters: connectionParameters),
                leCoded: .init(
                    scanInterval: .init(rawValue: 0x60), scanWindow: .init(rawValue: 0x60),
                    connectionParameters: connectionParameters)),
            "01 43 20 2A 00 01 01 55 44 33 22 11 C0 05 60 00 30 00" + connectionParameterBytes + " 60 00 60 00"
                + connectionParameterBytes),
    ]

    private static var advertisingParameters: LESetExtendedAdvertisingParameters {
        var command = LESetExtendedAdvertisingParameters(
            advertisingHandle: .init(2), properties: [.connectable, .scannable, .legacy])
        command.primaryIntervalMin = .init(rawValue: 0x20)
        command.primaryIntervalMax = .init(rawValue: 0x12_3456)
        command.ownAddressType = .random
        command.transmitPower = -10
        command.secondaryPHY = .le2M
        command.advertisingSID = 10
        command.notifiesScanRequests = true
        return command
    }
}
