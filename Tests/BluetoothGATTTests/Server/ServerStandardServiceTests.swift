import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothGATT

@Suite("GATT server: Generic Access and Generic Attribute")
struct ServerStandardServiceTests {
    @Test("GAP/GAT: the Generic Access service has the requested characteristics")
    func genericAccess() throws {
        var database = GATTDatabase()
        _ = try database.add(
            .genericAccess(
                deviceName: "Lamp", appearance: 0x0587,
                preferredConnectionParameters: bytes("06 00 0C 00 00 00 C8 00"), centralAddressResolution: true))
        var bench = ServerBench(database)
        #expect(bench.send("08 01 00 FF FF 00 2A") == "09 06 03 00 4C 61 6D 70")
        #expect(bench.send("08 01 00 FF FF 01 2A") == "09 04 05 00 87 05")
        #expect(bench.send("08 01 00 FF FF 04 2A") == "09 0A 07 00 06 00 0C 00 00 00 C8 00")
        #expect(bench.send("08 01 00 FF FF A6 2A") == "09 03 09 00 01")
        try bench.server.database.setValue(Array("Lantern".utf8), of: 0x0003)
        #expect(bench.send("0A 03 00") == "0B 4C 61 6E 74 65 72 6E")
    }

    @Test("a name too long for Device Name is truncated at a character boundary")
    func longName() throws {
        var database = GATTDatabase()
        _ = try database.add(.genericAccess(deviceName: "a" + String(repeating: "é", count: 200)))
        #expect(database.value(of: 0x0003)?.count == 247)
    }

    @Test("GATT/SR/GAS/BV-01: Service Changed is indicated to subscribed clients, and cannot be read")
    func serviceChanged() throws {
        var database = GATTDatabase()
        let handles = try database.add(.genericAttribute(serverSupportedFeatures: .constant([0x01])))
        var bench = ServerBench(database)
        #expect(bench.send("08 01 00 FF FF 05 2A") == "01 08 03 00 02")
        #expect(bench.send("08 01 00 FF FF 3A 2B") == "09 03 08 00 01")
        #expect(bench.send("12 04 00 01 00") == "01 12 04 00 FD")
        #expect(bench.send("12 04 00 02 00") == "13")
        let added = try bench.server.database.add(.init(uuid: .init(0x180F)), at: 0x0100)
        let range = written {
            $0.append(added.range.lowerBound)
            $0.append(added.range.upperBound)
        }
        let value = try #require(handles.characteristics.first?.value)
        #expect(try bench.indicate(value, range.hexadecimal()) == "1D 03 00 00 01 00 01")
    }

    @Test(
        "A13: reading and writing Client Supported Features",
        arguments: [
            ("nothing is written", "12 06 00", "01 12 06 00 0D", 0x03),
            ("a bit is cleared", "12 06 00 01", "01 12 06 00 13", 0x03),
            ("a bit is set", "12 06 00 07", "13", 0x07),
            ("reserved bits and octets are ignored", "12 06 00 FB 55", "13", 0x03),
            ("an offset past the end is read", "0C 06 00 C8 00", "01 0C 06 00 07", 0x03),
            ("the end is read", "0C 06 00 01 00", "0D", 0x03),
            ("it is read", "0A 06 00", "0B 03", 0x03),
        ] as [(String, String, String, UInt8)])
    func clientSupportedFeatures(_ name: String, _ request: String, _ response: String, _ features: UInt8) throws {
        var database = GATTDatabase()
        _ = try database.add(.genericAttribute())
        var bench = ServerBench(database)
        #expect(bench.send("12 06 00 03") == "13")
        #expect(bench.outcome == .clientSupportedFeaturesChanged([.robustCaching, .enhancedATTBearer]))
        #expect(bench.send(request) == response, "\(name)")
        #expect(bench.endpoint.servedClient.clientSupportedFeatures.rawValue == features)
        bench.meet(GATTServedClient())
        #expect(bench.send("0A 06 00") == "0B 00", "each client has its own")
    }

    @Test("GATT/SR/GAS/BV-03: each client has its own features, and reserved bits stay 0")
    func featuresOfEachClient() throws {
        var database = GATTDatabase()
        _ = try database.add(.genericAttribute())
        var bench = ServerBench(database)
        // Robust caching and all reserved bits.
        #expect(bench.send("12 06 00 F9") == "13")
        #expect(bench.send("0A 06 00") == "0B 01")
        let first = bench.endpoint
        bench.meet(GATTServedClient())
        #expect(bench.send("0A 06 00") == "0B 00")
        bench.endpoint = first
        #expect(bench.send("0A 06 00") == "0B 01")
    }

    @Test("A13: features cannot be cleared through a queued write either")
    func queuedFeatures() throws {
        var database = GATTDatabase()
        _ = try database.add(.genericAttribute())
        var bench = ServerBench(database)
        _ = bench.send("12 06 00 03")
        _ = bench.send("16 06 00 00 00 02")
        #expect(bench.send("18 01") == "01 18 06 00 13")
        _ = bench.send("16 06 00 00 00 07")
        #expect(bench.send("18 01") == "19")
        #expect(bench.endpoint.servedClient.clientSupportedFeatures.rawValue == 0x07)
        _ = bench.send("16 06 00 C8 00 07")
        #expect(bench.send("18 01") == "01 18 06 00 07")
    }
}
