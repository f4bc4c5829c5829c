import BluetoothBase
import BluetoothGAP
import TestSupport
import Testing

private let device = DeviceAddress(0xC011_2233_4455, kind: .random)
private let connectable: AdvertisingEventType = [.legacy, .connectable, .scannable]
private let response: AdvertisingEventType = [.legacy, .scannable, .scanResponse]
private func second(_ number: Int) -> Instant { .zero.advanced(by: .seconds(number)) }

extension SightingTable {
    fileprivate mutating func receive(
        _ data: String, _ eventType: AdvertisingEventType = connectable, from address: DeviceAddress = device,
        rssi: Int8 = -50, at seconds: Int = 0
    ) -> Novelty {
        let data = bytes(data)
        return receive(
            AdvertisingReport(address: address, eventType: eventType, rssi: rssi, data: data.span), at: second(seconds)
        ).novelty
    }
}

struct SightingTableTests {
    @Test func `advertising and scan response are merged under one address`() {
        var table = SightingTable()
        #expect(table.receive("02 01 06 03 03 0D 18", at: 1) == .discovered)
        #expect(table.receive("05 09 50 6F 6C 61", response, rssi: -60, at: 2) == .completed)
        let sighting = table[device]
        #expect(sighting?.advertisingData == bytes("02 01 06 03 03 0D 18"))
        #expect(sighting?.scanResponseData == bytes("05 09 50 6F 6C 61"))
        #expect(sighting?.name == "Pola")
        #expect(sighting?.serviceUUIDs == ["180D"])
        #expect(sighting?.contains(serviceUUID: "180D") == true)
        #expect(sighting?.isConnectable == true)
        #expect(sighting?.eventType == connectable)
        #expect(sighting?.rssi == -60)
        #expect(sighting?.firstSeen == second(1))
        #expect(sighting?.lastSeen == second(2))
        #expect(table.count == 1)
    }

    @Test func `a device whose address changes remains one sighting`() {
        var table = SightingTable()
        let data = bytes("02 01 05")
        for number in 1...3 as ClosedRange<UInt64> {
            let address = DeviceAddress(0x40_00_00_00_00_00 | number, kind: .random)
            let report = AdvertisingReport(
                address: address, peer: PeerID(device), eventType: connectable, data: data.span)
            #expect(table.receive(report, at: .zero).novelty == (number == 1 ? .discovered : .repeated))
            #expect(table[device]?.address == address && table[device]?.peer == PeerID(device))
            if let sighting = table[device] {
                // By the address it has, or by the one it is named after; and it is in limited discoverable mode.
                #expect(ScanFilter(addresses: [address], isLimitedDiscoverableOnly: true).matches(sighting))
                #expect(ScanFilter(addresses: [device]).matches(sighting))
                #expect(!ScanFilter(addresses: [DeviceAddress(1, kind: .random)]).matches(sighting))
            }
        }
        #expect(table.count == 1)
    }

    @Test func `a repeated report changes only signal and time, and is not news`() {
        var table = SightingTable()
        #expect(table.receive("02 01 06") == .discovered)
        let novelty = table.receive("02 01 06", rssi: -70, at: 9)
        #expect(novelty == .repeated)
        #expect(!novelty.isNews)
        #expect(table[device]?.rssi == -70)
        #expect(table[device]?.lastSeen == second(9))
        #expect(table[device]?.firstSeen == .zero)
    }

    @Test func `new data replaces the old data of the same half, and counts as a change but not as news`() {
        var table = SightingTable()
        #expect(table.receive("02 0A 01") == .discovered)
        #expect(table.receive("02 09 41", response) == .completed)
        #expect(table.receive("02 0A 02") == .changed)
        #expect(table.receive("02 09 42", response) == .changed)
        #expect(table.receive("02 0A 02") == .repeated)
        #expect(table.receive("", response) == .changed)
        #expect(!SightingTable.Novelty.changed.isNews)
        #expect(table[device]?.txPowerLevel == 2)
        #expect(table[device]?.name == nil)
    }

    @Test func `an empty scan response does not complete a sighting`() {
        var table = SightingTable()
        #expect(table.receive("02 01 06") == .discovered)
        #expect(table.receive("", response) == .repeated)
    }

    @Test func `a scan response may come first`() {
        var table = SightingTable()
        #expect(table.receive("02 09 41", response) == .discovered)
        #expect(table[device]?.isConnectable == false)
        #expect(table[device]?.eventType == [.legacy, .scannable])
        #expect(table.receive("02 01 06") == .completed)
        #expect(table[device]?.isConnectable == true)
        #expect(table[device]?.name == "A")
    }

    @Test func `a device that stops accepting connections is reported as changed`() {
        var table = SightingTable()
        #expect(table.receive("02 01 06") == .discovered)
        #expect(table.receive("02 01 06", [.legacy]) == .changed)
        #expect(table[device]?.isConnectable == false)
    }

    @Test func `an RSSI that was not measured is nil`() {
        var table = SightingTable()
        #expect(table.receive("02 01 06", rssi: 127) == .discovered)
        #expect(table[device]?.rssi == nil)
    }

    @Test(
        arguments: [
            ("02 0A 04", "", 127, 4), ("", "02 0A 04", 127, 4), ("02 0A 04", "02 0A 05", 9, 4), ("", "", 9, 9),
            ("", "", 127, nil),
        ] as [(String, String, Int8, Int8?)])
    func `the transmit power in the data takes precedence over the packet's`(
        _ advertising: String, _ scanResponse: String, _ packet: Int8, _ expected: Int8?
    ) {
        var table = SightingTable()
        for (type, text) in [(AdvertisingEventType.connectable, advertising), (.scanResponse, scanResponse)] {
            let data = bytes(text)
            _ = table.receive(
                AdvertisingReport(address: device, eventType: type, txPowerLevel: packet, data: data.span), at: .zero)
        }
        #expect(table[device]?.txPowerLevel == expected)
    }

    @Test(
        arguments: [
            (0, [.legacy, .connectable, .scannable]), (1, [.legacy, .connectable, .directed]),
            (2, [.legacy, .scannable]), (3, [.legacy]), (4, [.legacy, .scannable, .scanResponse]), (5, nil), (255, nil),
        ] as [(UInt8, AdvertisingEventType?)])
    func `legacy event types 0 to 4 map to their properties, and others to nil`(
        _ value: UInt8, _ expected: AdvertisingEventType?
    ) {
        #expect(AdvertisingEventType(legacyEventType: value) == expected)
    }

    @Test func `G2: after reports from 100,000 addresses, only the newest remain`() {
        var table = SightingTable(capacity: 64)
        let data = bytes("02 01 06")
        for number in 0..<100_000 as Range<UInt64> {
            let address = DeviceAddress(number &* 0x1_0001_0001, kind: .random)
            let report = AdvertisingReport(address: address, eventType: connectable, data: data.span)
            _ = table.receive(report, at: Instant(nanoseconds: number))
        }
        #expect(table.count == 64)
        #expect(table.sightings.map(\.lastSeen.nanoseconds) == (99_936..<100_000).reversed())
    }

    @Test func `G2: data beyond 1,650 octets is truncated`() {
        var table = SightingTable()
        let data = [UInt8](repeating: 1, count: 100_000)
        let report = AdvertisingReport(address: device, eventType: .connectable, data: data.span)
        #expect(table.receive(report, at: .zero).novelty == .discovered)
        #expect(table.receive(report, at: .zero).novelty == .repeated)
        #expect(table[device]?.advertisingData.count == 1650)
    }

    @Test func `a full table evicts the device that was seen least recently`() {
        var table = SightingTable(capacity: 2)
        let first = DeviceAddress(1, kind: .random), second = DeviceAddress(2, kind: .random)
        #expect(table.receive("", from: first, at: 0) == .discovered)
        #expect(table.receive("", from: second, at: 1) == .discovered)
        #expect(table.receive("", from: first, at: 2) == .repeated)
        #expect(table.receive("", from: device, at: 3) == .discovered)
        #expect(table[first] != nil)
        #expect(table[second] == nil)
        #expect(table.receive("", from: second, at: 4) == .discovered)
    }

    @Test func `devices not seen recently are removed, and a removed device is discovered again`() {
        var table = SightingTable()
        for number in 0..<5 {
            #expect(
                table.receive("", from: DeviceAddress(UInt64(number), kind: .random), at: number) == .discovered)
        }
        table.removeAll(notSeenSince: second(3))
        #expect(table.sightings.map(\.lastSeen) == [second(4), second(3)])
        table.removeAll()
        #expect(table.count == 0)
        #expect(table.receive("", from: DeviceAddress(4, kind: .random), at: 9) == .discovered)
    }
}
