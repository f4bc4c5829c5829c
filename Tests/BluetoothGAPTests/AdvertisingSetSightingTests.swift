import BluetoothBase
import BluetoothGAP
import TestSupport
import Testing

@Suite("Sightings of advertising sets")
struct AdvertisingSetSightingTests {
    static let device = DeviceAddress(0xC011_2233_4455, kind: .random)

    static func receive(
        _ table: inout SightingTable, _ data: [UInt8], sid: UInt8, _ type: AdvertisingEventType = [],
        from address: DeviceAddress = device
    ) -> SightingTable.Novelty {
        let details = AdvertisingDetails(primaryPHY: .le1M, secondaryPHY: .le2M, sid: sid)
        return table.receive(
            AdvertisingReport(address: address, eventType: type, details: details, data: data.span), at: .zero
        ).novelty
    }

    @Test("each advertising set of a device, and its legacy advertising, is a separate sighting") func sets() {
        var table = SightingTable()
        #expect(Self.receive(&table, [2, 1, 6], sid: 0xFF, [.legacy, .connectable]) == .discovered)
        #expect(Self.receive(&table, [2, 10, 1], sid: 0) == .discovered)
        #expect(Self.receive(&table, [2, 10, 2], sid: 1) == .discovered)
        #expect(Self.receive(&table, [2, 10, 1], sid: 0) == .repeated)
        #expect(Self.receive(&table, [2, 1, 6], sid: 0xFF, [.legacy, .connectable]) == .repeated)
        #expect(table[Self.device]?.details == .init(primaryPHY: .le1M, secondaryPHY: .le2M))
        #expect(table[Self.device, sid: 0]?.advertisingData == [2, 10, 1])
        #expect(table[Self.device, sid: 1]?.details.sid == 1)
        #expect(table[Self.device, sid: 2] == nil)
        #expect(table.sightings.count == 3)
    }

    @Test("a scan response is merged with the set it belongs to") func scanResponse() {
        var table = SightingTable()
        _ = Self.receive(&table, [2, 10, 1], sid: 0)
        #expect(Self.receive(&table, [], sid: 1, .scannable) == .discovered)
        #expect(Self.receive(&table, [2, 10, 9], sid: 1, [.scannable, .scanResponse]) == .completed)
        #expect(table[Self.device, sid: 0]?.scanResponseData == [])
        #expect(table[Self.device, sid: 1]?.scanResponseData == [2, 10, 9])
        #expect(table[Self.device, sid: 1]?.eventType == .scannable)
    }

    @Test("the placeholder address of an anonymous advertiser cannot be a device's") func anonymous() {
        let data: [[UInt8]] = [[], [1], [1, 2], [2, 1]]
        let addresses = data.flatMap { data in
            (0..<3).map { AdvertisingReport.anonymousAddress(data.span, sid: $0) }
        }
        #expect(Set(addresses).count == addresses.count)
        #expect(addresses.allSatisfy { $0.kind == .random && $0.randomKind == .reserved })
    }
}
