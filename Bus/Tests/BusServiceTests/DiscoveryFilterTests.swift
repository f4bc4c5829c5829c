import BluetoothBase
import BluetoothGAP
import DBus
import Testing

@testable import BusService

@Suite struct DiscoveryFilterTests {
    @Test func `a filter becomes the conditions of the scan`() throws {
        let filter = try DiscoveryFilter(
            .variants([
                ("UUIDs", .strings(["180d", "0000180f-0000-1000-8000-00805f9b34fb"])), ("RSSI", .int16(-70)),
                ("Transport", .string("le")), ("DuplicateData", .boolean(true)), ("Pattern", .string("Ther")),
            ]))
        #expect(filter.scanFilter.services == ["180D", "180F"])
        #expect(filter.scanFilter.rssi == -70...127)
        #expect(filter.reportsDuplicates)
        #expect(filter.pattern == "Ther")
        #expect(!filter.scanFilter.isDiscoverableOnly)
    }

    @Test func `an empty filter is no filter, and finds discoverable devices only`() throws {
        let filter = try DiscoveryFilter(.variants([]))
        #expect(!filter.isSet)
        #expect(filter.scanFilter.isDiscoverableOnly)
    }

    private static let invalid: [(String, DBusValue)] = [
        ("UUIDs", .strings(["xyz"])), ("UUIDs", .string("180d")), ("RSSI", .int16(-200)), ("RSSI", .uint16(70)),
        ("Pathloss", .uint16(500)), ("Transport", .string("wifi")), ("DuplicateData", .string("yes")),
        ("Unknown", .boolean(true)),
    ]

    @Test(arguments: 0..<invalid.count)
    func `an invalid condition is refused`(_ index: Int) {
        #expect(throws: BusError.invalidArguments) { try DiscoveryFilter(.variants([Self.invalid[index]])) }
    }

    @Test func `BR EDR is not supported`() {
        #expect(throws: BusError.notSupported) {
            try DiscoveryFilter(.variants([("Transport", .string("bredr"))]))
        }
    }

    @Test func `RSSI and path loss exclude each other`() {
        #expect(throws: BusError.invalidArguments) {
            try DiscoveryFilter(.variants([("RSSI", .int16(-70)), ("Pathloss", .uint16(20))]))
        }
    }
}
