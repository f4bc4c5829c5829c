import BluetoothBase
import BluetoothHCI
import TestSupport

extension EventSamples {
    private static let train = SyncHandle(0x0102)
    private static let accuracy = ClockAccuracy(rawValue: 5)

    static let periodic: [EventSample] = [
        .init(
            LEPeriodicAdvertisingSyncEstablished(
                syncHandle: train, advertisingSID: 5, advertiserAddress: randomPeer, phy: .le2M,
                interval: .init(rawValue: 0x0150), clockAccuracy: accuracy),
            "04 3E 10 0E 00 02 01 05 01 55 44 33 22 11 C0 02 50 01 05"),
        .init(
            LEPeriodicAdvertisingSyncEstablishedV2(
                status: .connectionFailedToBeEstablished, syncHandle: train, advertisingSID: 5,
                advertiserAddress: randomPeer, phy: .le2M, interval: .init(rawValue: 0x0150), clockAccuracy: accuracy,
                subeventCount: 3, subeventInterval: 8, responseSlotDelay: 4, responseSlotSpacing: 16),
            "04 3E 14 24 3E 02 01 05 01 55 44 33 22 11 C0 02 50 01 05 03 08 04 10"),
        .init(LEPeriodicAdvertisingSyncLost(syncHandle: train), "04 3E 03 10 02 01"),
        .init(
            LEPeriodicAdvertisingSyncTransferReceived(
                connectionHandle: 0x0040, serviceData: 0x1234, syncHandle: train, advertisingSID: 5,
                advertiserAddress: publicPeer, phy: .leCoded, interval: .init(rawValue: 0x0150),
                clockAccuracy: accuracy), "04 3E 14 18 00 40 00 34 12 02 01 05 00 55 44 33 22 11 00 03 50 01 05"),
        .init(
            LEPeriodicAdvertisingSyncTransferReceivedV2(
                connectionHandle: 0x0040, serviceData: 0x1234, syncHandle: train, advertisingSID: 5,
                advertiserAddress: publicPeer, phy: .leCoded, interval: .init(rawValue: 0x0150),
                clockAccuracy: accuracy, subeventCount: 3, subeventInterval: 8, responseSlotDelay: 4,
                responseSlotSpacing: 16),
            "04 3E 18 26 00 40 00 34 12 02 01 05 00 55 44 33 22 11 00 03 50 01 05 03 08 04 10"),
        .init(
            LEPeriodicAdvertisingSubeventDataRequest(
                advertisingHandle: .init(2), subeventStart: 3, subeventDataCount: 4), "04 3E 04 27 02 03 04"),
        .init(
            LEPathLossThreshold(connectionHandle: 0x0040, currentPathLoss: 77, zoneEntered: .middle),
            "04 3E 05 20 40 00 4D 01"),
        .init(
            LETransmitPowerReporting(
                connectionHandle: 0x0040, reason: 2, phy: .le2M, transmitPowerLevel: -8, levelFlags: 1, delta: -2),
            "04 3E 09 21 00 40 00 02 02 F8 01 FE"),
    ]

    static let periodicLists: [EventSample] = [
        .init("LEPeriodicAdvertisingReport", "04 3E 0A 0F 02 01 7F C4 FF 00 02 AA BB", requiredLength: 10) {
            let data: [UInt8] = [0xAA, 0xBB]
            LEPeriodicAdvertisingReport(syncHandle: train, rssi: -60, dataStatus: 0, data: data.span)
                .encodePacket(into: &$0)
        },
        .init("LEPeriodicAdvertisingReportV2", "04 3E 0C 25 02 01 7F C4 FF 04 03 05 01 01 AA", requiredLength: 12) {
            let data: [UInt8] = [0xAA]
            LEPeriodicAdvertisingReport(
                syncHandle: train, rssi: -60, subevent: .init(eventCounter: 0x0304, number: 5), dataStatus: 1,
                data: data.span
            ).encodePacket(into: &$0)
        },
    ]
}
