import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothGATT

@Suite("GATT server: discovery")
struct ServerDiscoveryTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var name: String
        var request: String
        var response: String
        var mtu = 23
        var testDescription: String { name }
    }

    @Test(
        "services, characteristics and descriptors are found",
        arguments: [
            Row(
                name: "GATT/SR/GAD/BV-01: all primary services, the first of the two UUID lengths",
                request: "10 01 00 FF FF 00 28", response: "11 06 01 00 05 00 00 18 06 00 0E 00 0D 18"),
            Row(
                name: "GATT/SR/GAD/BV-01: the next primary services",
                request: "10 0F 00 FF FF 00 28",
                response: "11 14 20 00 22 00 35 30 EA 74 71 4A F4 94 F5 47 BB 00 E8 0A 7F E0"),
            Row(
                name: "GATT/SR/GAD/BV-01: no more primary services", request: "10 23 00 FF FF 00 28",
                response: "01 10 23 00 0A"),
            Row(
                name: "secondary services are a group as well", request: "10 01 00 FF FF 01 28",
                response: "11 14 0F 00 14 00 32 30 EA 74 71 4A F4 94 F5 47 BB 00 E8 0A 7F E0"),
            Row(
                name: "the group type in its 128-bit form",
                request: "10 01 00 05 00 FB 34 9B 5F 80 00 00 80 00 10 00 00 00 28 00 00",
                response: "11 06 01 00 05 00 00 18"),
            Row(
                name: "characteristics are no group", request: "10 01 00 FF FF 03 28", response: "01 10 01 00 10"),
            Row(
                name: "GATT/SR/GAD/BV-02: a service by its UUID", request: "06 01 00 FF FF 00 28 0D 18",
                response: "07 06 00 0E 00"),
            Row(
                name: "GATT/SR/GAD/BV-02: a service by its 128-bit UUID",
                request: "06 01 00 FF FF 00 28 35 30 EA 74 71 4A F4 94 F5 47 BB 00 E8 0A 7F E0",
                response: "07 20 00 22 00"),
            Row(
                name: "a short UUID in its long form is another value",
                request: "06 01 00 FF FF 00 28 FB 34 9B 5F 80 00 00 80 00 10 00 00 0D 18 00 00",
                response: "01 06 01 00 0A"),
            Row(
                name: "a service outside the range", request: "06 07 00 FF FF 00 28 0D 18", response: "01 06 07 00 0A"),
            Row(
                name: "a secondary service by its UUID",
                request: "06 01 00 FF FF 01 28 32 30 EA 74 71 4A F4 94 F5 47 BB 00 E8 0A 7F E0",
                response: "07 0F 00 14 00"),
            Row(
                name: "an attribute that opens no group ends where it begins",
                request: "06 01 00 FF FF 38 2A 07 08 09", response: "07 22 00 22 00"),
            Row(
                name: "a Client Characteristic Configuration has the client's value",
                request: "06 01 00 FF FF 02 29 00 00", response: "07 09 00 09 00"),
            Row(
                name: "what may not be read is not found by its value", request: "06 01 00 FF FF 39 2A",
                response: "01 06 01 00 0A"),
            Row(
                name: "what only the application knows is not found by its value",
                request: "06 01 00 FF FF 37 2A", response: "01 06 01 00 0A"),
            Row(
                name: "GATT/SR/GAD/BV-03: included services", request: "08 01 00 FF FF 02 28",
                response: "09 08 10 00 06 00 0E 00 0D 18"),
            Row(
                name: "GATT/SR/GAD/BV-04: characteristics, as many as fit", request: "08 01 00 FF FF 03 28",
                response: "09 07 02 00 02 03 00 00 2A 04 00 02 05 00 01 2A 07 00 30 08 00 37 2A"),
            Row(
                name: "GATT/SR/GAD/BV-04: characteristics with a larger ATT_MTU", request: "08 01 00 FF FF 03 28",
                response: """
                    09 07 02 00 02 03 00 00 2A 04 00 02 05 00 01 2A 07 00 30 08 00 37 2A 0A 00 0A 0B 00 38 2A \
                    0D 00 04 0E 00 39 2A
                    """, mtu: 100),
            Row(
                name: "GATT/SR/GAD/BV-05: no characteristic of that sort", request: "08 0F 00 10 00 03 28",
                response: "01 08 0F 00 0A"),
            Row(
                name: "GATT/SR/GAD/BV-06: descriptors", request: "04 09 00 09 00", response: "05 01 09 00 02 29"),
            Row(
                name: "types of one length go together", request: "04 0F 00 FF FF",
                response: "05 01 0F 00 01 28 10 00 02 28 11 00 03 28"),
            Row(
                name: "128-bit types", request: "04 12 00 FF FF",
                response: "05 02 12 00 33 30 EA 74 71 4A F4 94 F5 47 BB 00 E8 0A 7F E0"),
            Row(
                name: "as many types as fit", request: "04 01 00 FF FF",
                response: "05 01 01 00 00 28 02 00 03 28 03 00 00 2A 04 00 03 28 05 00 01 2A"),
            Row(
                name: "the range starts where there is no attribute", request: "04 15 00 20 00",
                response: "05 01 20 00 00 28"),
            Row(name: "nothing in the range", request: "04 15 00 1F 00", response: "01 04 15 00 0A"),
            Row(name: "nothing behind the last attribute", request: "04 23 00 FF FF", response: "01 04 23 00 0A"),
        ])
    func discovery(_ row: Row) {
        var bench = ServerBench(.example(), mtu: row.mtu)
        #expect(bench.send(row.request) == row.response)
    }

    @Test(
        "A3: a range that starts at 0 or ends before its start is rejected, and the error names its start",
        arguments: [
            ("04 00 00 05 00", "01 04 00 00 01"), ("04 05 00 04 00", "01 04 05 00 01"),
            ("06 00 00 05 00 00 28 00 18", "01 06 00 00 01"), ("06 05 00 04 00 00 28 00 18", "01 06 05 00 01"),
            ("08 00 00 05 00 03 28", "01 08 00 00 01"), ("08 05 00 04 00 03 28", "01 08 05 00 01"),
            ("10 00 00 05 00 00 28", "01 10 00 00 01"), ("10 05 00 01 00 00 28", "01 10 05 00 01"),
        ])
    func ranges(_ request: String, _ response: String) {
        var bench = ServerBench(.example())
        #expect(bench.send(request) == response)
    }

    @Test("A4: attributes at the last handle are found, and the search ends there")
    func lastHandle() throws {
        var database = GATTDatabase()
        let definition = GATTServiceDefinition(
            uuid: .init(0x180F),
            characteristics: [.init(uuid: .init(0x2A19), properties: .read, value: .constant([100]))])
        _ = try database.add(definition, at: 0xFFFD)
        var bench = ServerBench(database)
        #expect(bench.send("10 01 00 FF FF 00 28") == "11 06 FD FF FF FF 0F 18")
        #expect(bench.send("06 01 00 FF FF 00 28 0F 18") == "07 FD FF FF FF")
        #expect(bench.send("08 FE FF FF FF 03 28") == "09 07 FE FF 02 FF FF 19 2A")
        #expect(bench.send("04 FF FF FF FF") == "05 01 FF FF 19 2A")
        #expect(bench.send("08 FF FF FF FF 19 2A") == "09 03 FF FF 64")
        #expect(bench.send("0A FF FF") == "0B 64")
    }

    @Test("An empty database answers discovery and read requests with errors") func anEmptyDatabaseHasNothing() {
        var bench = ServerBench(GATTDatabase())
        #expect(bench.send("04 01 00 FF FF") == "01 04 01 00 0A")
        #expect(bench.send("10 01 00 FF FF 00 28") == "01 10 01 00 0A")
        #expect(bench.send("0A 01 00") == "01 0A 01 00 01")
    }

    @Test(
        "Results fill a Find By Type Value Response up to the MTU, and never exceed it (Vol 3, Part F, 3.4.3.4)",
        arguments: [
            (23, "07 01 00 01 00 02 00 02 00 03 00 03 00 04 00 04 00 05 00 05 00"),
            (24, "07 01 00 01 00 02 00 02 00 03 00 03 00 04 00 04 00 05 00 05 00"),
            (25, "07 01 00 01 00 02 00 02 00 03 00 03 00 04 00 04 00 05 00 05 00 06 00 06 00"),
        ])
    func moreFindsThanFit(mtu: Int, response: String) throws {
        var database = GATTDatabase()
        for _ in 0..<7 { _ = try database.add(.init(uuid: .init(0x180F))) }
        var bench = ServerBench(database, mtu: mtu)
        #expect(bench.send("06 01 00 FF FF 00 28 0F 18") == response)
    }
}
