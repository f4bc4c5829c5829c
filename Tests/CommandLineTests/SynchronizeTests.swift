import ArgumentParser
import BluetoothLE
import BluetoothGAP
import Testing

@testable import ble

/// `ble sync`: the sets of a device.
struct SynchronizeTests {
    @Test("A device is given by its name or its address", arguments: ["Clock", "C0:11:22:33:44:55"])
    func device(_ argument: String) throws {
        let command = try #require(try BLE.parseAsRoot(["sync", argument]) as? Synchronize)
        #expect("\(command.device)".contains(argument) && command.sets.isEmpty)
    }

    /// - Parameter units: the interval of its periodic advertising, in units of 1.25 ms; 0 for none.
    private static func sighting(set sid: UInt8, _ units: UInt16) -> Sighting {
        var table = SightingTable(capacity: 1)
        let details = AdvertisingDetails(
            primaryPHY: .le1M, secondaryPHY: .le1M, sid: sid, periodicInterval: units)
        let slot = table.receive(
            AdvertisingReport(
                address: DeviceAddress(0xC011_2233_4455, kind: .random), eventType: [], rssi: -60, details: details,
                data: Span()), at: .zero
        ).slot
        return table[slot]
    }

    @Test("The sets that were seen are listed, and those with periodic advertising can be chosen")
    func sets() {
        var sets = AdvertisedSets()
        let isNews = [
            sets.take(Self.sighting(set: 0xFF, 0)), sets.take(Self.sighting(set: 5, 0)),
            sets.take(Self.sighting(set: 3, 80)), sets.take(Self.sighting(set: 3, 80)),
            sets.take(Self.sighting(set: 3, 0)),
        ]
        #expect(isNews == [false, false, true, false, false])
        #expect(sets.periodic == [3])
        #expect(sets.list == "3 (every 0.1 seconds), 5 (no periodic advertising)")
    }
}
