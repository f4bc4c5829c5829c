import BluetoothBase
import BluetoothHCI
import TestSupport

extension CommandSamples {
    private static let set = AdvertisingHandle(2)
    private static let train = SyncHandle(0x0102)

    static let periodic: [CommandSample] = [
        .init(
            LESetPeriodicAdvertisingParameters(
                advertisingHandle: set, intervalMin: .init(rawValue: 6), intervalMax: .init(rawValue: 0x0150),
                properties: .includesTransmitPower), "01 3E 20 07 02 06 00 50 01 40 00"),
        .init(
            LESetPeriodicAdvertisingData(advertisingHandle: set, operation: .first, data: [0xAA, 0xBB]),
            "01 3F 20 05 02 01 02 AA BB"),
        .init(
            LESetPeriodicAdvertisingEnable(enabling: [.enabled, .includesADI], advertisingHandle: set),
            "01 40 20 02 03 02"),
        .init(
            LEPeriodicAdvertisingCreateSync(
                options: [.disablesReports, .filtersDuplicates], advertisingSID: 5, advertiserAddress: randomPeer,
                skip: 7, timeout: .init(rawValue: 0x0102), cteType: 4),
            "01 44 20 0E 06 05 01 55 44 33 22 11 C0 07 00 02 01 04"),
        .init(LEPeriodicAdvertisingCreateSyncCancel(), "01 45 20 00"),
        .init(LEPeriodicAdvertisingTerminateSync(syncHandle: train), "01 46 20 02 02 01"),
        .init(
            LEAddDeviceToPeriodicAdvertiserList(advertiserAddress: randomPeer, advertisingSID: 5),
            "01 47 20 08 01 55 44 33 22 11 C0 05"),
        .init(
            LERemoveDeviceFromPeriodicAdvertiserList(advertiserAddress: publicPeer, advertisingSID: 15),
            "01 48 20 08 00 55 44 33 22 11 00 0F"),
        .init(LEClearPeriodicAdvertiserList(), "01 49 20 00"),
        .init(LEReadPeriodicAdvertiserListSize(), "01 4A 20 00", returns: .init(size: 8), "08"),
        .init(
            LESetPeriodicAdvertisingReceiveEnable(syncHandle: train, reporting: .enabled), "01 59 20 03 02 01 01"),
        .init(
            LEPeriodicAdvertisingSyncTransfer(connectionHandle: 0x0040, serviceData: 0x1234, syncHandle: train),
            "01 5A 20 06 40 00 34 12 02 01", returns: .init(connectionHandle: 0x0040), "40 00"),
        .init(
            LEPeriodicAdvertisingSetInfoTransfer(
                connectionHandle: 0x0040, serviceData: 0x1234, advertisingHandle: set),
            "01 5B 20 05 40 00 34 12 02", returns: .init(connectionHandle: 0x0040), "40 00"),
        .init(
            LESetPeriodicAdvertisingSyncTransferParameters(
                connectionHandle: 0x0040, mode: .synchronize, skip: 1, timeout: .init(rawValue: 0x0102), cteType: 1),
            "01 5C 20 08 40 00 02 01 00 02 01 01", returns: .init(connectionHandle: 0x0040), "40 00"),
        .init(
            LESetDefaultPeriodicAdvertisingSyncTransferParameters(
                mode: .filterDuplicates, timeout: .init(rawValue: 0x0102)), "01 5D 20 06 03 00 00 02 01 00"),
        .init(
            LESetPeriodicAdvertisingSubeventData(
                advertisingHandle: set,
                subevents: [
                    .init(number: 3, responseSlotStart: 1, responseSlotCount: 2, data: [0xAA]),
                    .init(number: 4, responseSlotStart: 0, responseSlotCount: 0, data: []),
                ]), "01 82 20 0B 02 02 03 01 02 01 AA 04 00 00 00", returns: .init(advertisingHandle: set), "02"),
        .init(
            LESetPeriodicAdvertisingResponseData(
                syncHandle: train, requestEvent: 0x0304, requestSubevent: 5, responseSubevent: 6, responseSlot: 7,
                data: [0xAA, 0xBB]), "01 83 20 0A 02 01 04 03 05 06 07 02 AA BB", returns: .init(syncHandle: train),
            "02 01"),
        .init(
            LESetPeriodicSyncSubevent(syncHandle: train, properties: .includesTransmitPower, subevents: [0, 9]),
            "01 84 20 07 02 01 40 00 02 00 09", returns: .init(syncHandle: train), "02 01"),
        .init(
            LESetPeriodicAdvertisingParametersV2(
                advertisingHandle: set, intervalMin: .init(rawValue: 6), intervalMax: .init(rawValue: 0x0150),
                subeventCount: 3, subeventInterval: 8, responseSlotDelay: 4, responseSlotSpacing: 16,
                responseSlotCount: 5), "01 86 20 0C 02 06 00 50 01 00 00 03 08 04 10 05",
            returns: .init(advertisingHandle: set), "02"),
        .init(
            LEExtendedCreateConnectionV2(
                advertisingHandle: set, subevent: 7,
                connection: LEExtendedCreateConnection(
                    ownAddressType: .random, peerAddress: DeviceAddress(0x0605_0403_0201, kind: .random),
                    le1M: nil,
                    le2M: .init(
                        scanInterval: LESlots(rawValue: 16), scanWindow: LESlots(rawValue: 8),
                        connectionParameters: LEConnectionParameters(
                            intervalMin: .init(rawValue: 6), intervalMax: .init(rawValue: 7), maxLatency: 1,
                            supervisionTimeout: .init(rawValue: 0x64))))),
            "01 85 20 1C 02 07 00 01 01 01 02 03 04 05 06 02 10 00 08 00 06 00 07 00 01 00 64 00 00 00 00 00"),
    ]

    static let power: [CommandSample] = [
        .init(
            LEEnhancedReadTransmitPowerLevel(connectionHandle: 0x0040, phy: .leCodedS8), "01 76 20 03 40 00 03",
            returns: .init(
                connectionHandle: 0x0040, phy: .leCodedS8, currentTransmitPowerLevel: -4, maxTransmitPowerLevel: 8),
            "40 00 03 FC 08"),
        .init(LEReadRemoteTransmitPowerLevel(connectionHandle: 0x0040, phy: .le2M), "01 77 20 03 40 00 02"),
        .init(
            LESetPathLossReportingParameters(
                connectionHandle: 0x0040, highThreshold: 80, highHysteresis: 5, lowThreshold: 50, lowHysteresis: 4,
                minTimeSpent: 0x0102), "01 78 20 08 40 00 50 05 32 04 02 01",
            returns: .init(connectionHandle: 0x0040), "40 00"),
        .init(
            LESetPathLossReportingEnable(connectionHandle: 0x0040, isEnabled: true), "01 79 20 03 40 00 01",
            returns: .init(connectionHandle: 0x0040), "40 00"),
        .init(
            LESetTransmitPowerReportingEnable(connectionHandle: 0x0040, reportsLocal: true, reportsRemote: false),
            "01 7A 20 04 40 00 01 00", returns: .init(connectionHandle: 0x0040), "40 00"),
    ]
}
