import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothGATT

/// Each procedure as a client performs it: request after request, until the server has nothing more.
@Suite("GATT server: discovery, procedure by procedure")
struct ServerDiscoveryConformanceTests {
    /// The octets of `exampleUUID`, without the first.
    private static let vendor = "30 EA 74 71 4A F4 94 F5 47 BB 00 E8 0A 7F E0"

    @Test("GATT/SR/GAD/BV-01: all primary services are found, with UUIDs of either length, and no secondary service")
    func primaryServices() {
        var bench = ServerBench(.example())
        #expect(bench.send("10 01 00 FF FF 00 28") == "11 06 01 00 05 00 00 18 06 00 0E 00 0D 18")
        #expect(bench.send("10 0F 00 FF FF 00 28") == "11 14 20 00 22 00 35 " + Self.vendor)
        #expect(bench.send("10 23 00 FF FF 00 28") == "01 10 23 00 0A")
    }

    @Test(
        "GATT/SR/GAD/BV-02: all primary services of one UUID, of either length, are found, and no secondary service",
        arguments: [("0F 18", 1), ("35 " + vendor, 2)])
    func primaryServicesByUUID(uuid: String, first: Int) throws {
        var database = GATTDatabase()
        for uuid in [BluetoothUUID(0x180F), exampleUUID(0x35), BluetoothUUID(0x180F), exampleUUID(0x35)] {
            _ = try database.add(.init(uuid: uuid))
        }
        for uuid in [BluetoothUUID(0x180F), exampleUUID(0x35)] {
            _ = try database.add(.init(uuid: uuid, isPrimary: false))
        }
        var bench = ServerBench(database)
        let one = littleEndian(first), two = littleEndian(first + 2), next = littleEndian(first + 3)
        #expect(bench.send("06 01 00 FF FF 00 28 " + uuid) == "07 \(one) \(one) \(two) \(two)")
        #expect(bench.send("06 \(next) FF FF 00 28 " + uuid) == "01 06 \(next) 0A")
    }

    @Test("GATT/SR/GAD/BV-03: all included services of a service are found, those with 128-bit UUIDs without the UUID")
    func included() throws {
        var database = GATTDatabase()
        _ = try database.add(.init(uuid: exampleUUID(0x35)), at: 0x0001)
        _ = try database.add(.init(uuid: "180F"), at: 0x0002)
        _ = try database.add(
            GATTServiceDefinition(uuid: "180D", includes: [0x0001, 0x0002], handle: 0x0010, endHandle: 0x0015))
        var bench = ServerBench(database)
        #expect(bench.send("08 10 00 15 00 02 28") == "09 06 11 00 01 00 01 00")
        #expect(bench.send("08 12 00 15 00 02 28") == "09 08 12 00 02 00 02 00 0F 18")
        #expect(bench.send("08 13 00 15 00 02 28") == "01 08 13 00 0A")
        // The client reads the missing UUID from the included service.
        #expect(bench.send("0A 01 00") == "0B 35 " + Self.vendor)
    }

    @Test("GATT/SR/GAD/BV-04: all characteristics of a service are found, and none of the next service")
    func characteristics() {
        var bench = ServerBench(.example())
        #expect(
            bench.send("08 06 00 0E 00 03 28")
                == "09 07 07 00 30 08 00 37 2A 0A 00 0A 0B 00 38 2A 0D 00 04 0E 00 39 2A")
        #expect(bench.send("08 0E 00 0E 00 03 28") == "01 08 0E 00 0A")
    }

    @Test(
        "GATT/SR/GAD/BV-05: all characteristics of a service are found with their UUIDs, for the client to filter"
    )
    func characteristicsByUUID() {
        var bench = ServerBench(.example())
        #expect(bench.send("08 01 00 05 00 03 28") == "09 07 02 00 02 03 00 00 2A 04 00 02 05 00 01 2A")
        #expect(bench.send("08 05 00 05 00 03 28") == "01 08 05 00 0A")
        #expect(bench.send("08 0F 00 14 00 03 28") == "09 15 11 00 0A 12 00 33 " + Self.vendor)
        #expect(bench.send("08 12 00 14 00 03 28") == "09 15 13 00 0A 14 00 34 " + Self.vendor)
        #expect(bench.send("08 14 00 14 00 03 28") == "01 08 14 00 0A")
    }

    @Test("GATT/SR/GAD/BV-06: all descriptors of a characteristic are found, with UUIDs of either length")
    func descriptors() throws {
        var database = GATTDatabase()
        _ = try database.add(
            .init(
                uuid: "F000",
                characteristics: [
                    .init(
                        uuid: "F001", properties: [.read, .notify], value: .constant([1]),
                        descriptors: [
                            .userDescription("One"), .init(uuid: exampleUUID(0x36), value: .constant([2])),
                            .init(uuid: exampleUUID(0x37), value: .constant([3])),
                        ]), .init(uuid: "F002", properties: .read, value: .constant([4])),
                ]))
        var bench = ServerBench(database)
        #expect(bench.send("04 04 00 07 00") == "05 01 04 00 02 29 05 00 01 29")
        #expect(bench.send("04 06 00 07 00") == "05 02 06 00 36 " + Self.vendor)
        #expect(bench.send("04 07 00 07 00") == "05 02 07 00 37 " + Self.vendor)
        // The other one, at 0009, has none.
        #expect(bench.send("04 0A 00 0A 00") == "01 04 0A 00 0A")
    }
}
