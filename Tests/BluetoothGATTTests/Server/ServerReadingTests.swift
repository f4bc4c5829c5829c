import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothGATT

@Suite("GATT server: reading")
struct ServerReadingTests {
    @Test(
        "values kept by the server are read",
        arguments: [
            ("GATT/SR/GAR/BV-01: a value", "0A 0B 00", "0B 01 02 03 04"),
            ("a declaration", "0A 07 00", "0B 30 08 00 37 2A"),
            ("GATT/SR/GAR/BI-02: no such handle", "0A 19 00", "01 0A 19 00 01"),
            ("GATT/SR/GAR/BI-02: the reserved handle", "0A 00 00", "01 0A 00 00 01"),
            ("GATT/SR/GAR/BI-01: not readable", "0A 0E 00", "01 0A 0E 00 02"),
            (
                "a long value is cut", "0A 12 00",
                "0B 30 31 32 33 34 35 36 37 38 39 30 31 32 33 34 35 36 37 38 39 30 31"
            ),
            ("GATT/SR/GAR/BV-06: a descriptor", "0A 0C 00", "0B 50 6C 61 63 65"),
            ("a configuration nobody wrote is zero", "0A 09 00", "0B 00 00"),
            (
                "the rest of a long value", "0C 12 00 16 00",
                "0D 32 33 34 35 36 37 38 39 30 31 32 33 34 35 36 37 38 39"
            ),
            ("A9: at the end there is nothing", "0C 12 00 28 00", "0D"),
            ("A9, GATT/SR/GAR/BI-13: beyond the end", "0C 12 00 29 00", "01 0C 12 00 07"),
            ("a blob of a short value", "0C 0B 00 03 00", "0D 04"),
            ("a blob of a descriptor", "0C 0C 00 04 00", "0D 65"),
            ("a blob of a configuration", "0C 09 00 01 00", "0D 00"),
            ("at the end of a configuration there is nothing", "0C 09 00 02 00", "0D"),
            ("a blob past a configuration", "0C 09 00 03 00", "01 0C 09 00 07"),
            ("GATT/SR/GAR/BI-12: a blob that is not readable", "0C 0E 00 00 00", "01 0C 0E 00 02"),
            ("GATT/SR/GAR/BI-14: a blob of no handle", "0C 19 00 00 00", "01 0C 19 00 01"),
            ("GATT/SR/GAR/BV-03: by type, one length at a time", "08 01 00 FF FF 38 2A", "09 06 0B 00 01 02 03 04"),
            ("by type, the next", "08 0C 00 FF FF 38 2A", "09 05 22 00 07 08 09"),
            (
                "GATT/SR/GAR/BV-03: by a type of 128 bits, a long one is cut",
                "08 01 00 FF FF 33 30 EA 74 71 4A F4 94 F5 47 BB 00 E8 0A 7F E0",
                "09 15 12 00 30 31 32 33 34 35 36 37 38 39 30 31 32 33 34 35 36 37 38"
            ),
            ("GATT/SR/GAR/BI-06: by type, not readable", "08 01 00 FF FF 39 2A", "01 08 0E 00 02"),
            ("GATT/SR/GAR/BI-07: by type, none", "08 01 00 FF FF 99 2A", "01 08 01 00 0A"),
            ("by type, a configuration", "08 01 00 FF FF 02 29", "09 04 09 00 00 00"),
            ("GATT/SR/GAR/BV-05: multiple", "0E 0B 00 05 00 22 00", "0F 01 02 03 04 40 03 07 08 09"),
            ("multiple, the same twice", "0E 22 00 22 00", "0F 07 08 09 07 08 09"),
            (
                "multiple, cut", "0E 0B 00 12 00 0B 00",
                "0F 01 02 03 04 30 31 32 33 34 35 36 37 38 39 30 31 32 33 34 35 36 37"
            ),
            ("GATT/SR/GAR/BI-18: multiple, one not readable", "0E 0B 00 0E 00", "01 0E 0E 00 02"),
            ("GATT/SR/GAR/BI-19: multiple, one not there", "0E 0B 00 19 00 0E 00", "01 0E 19 00 01"),
            ("GATT/SR/GAR/BV-09: multiple variable", "20 0B 00 22 00", "21 04 00 01 02 03 04 03 00 07 08 09"),
            (
                "multiple variable, the value cut", "20 22 00 12 00",
                "21 03 00 07 08 09 28 00 30 31 32 33 34 35 36 37 38 39 30 31 32 33 34"
            ),
            (
                "multiple variable, full before the last", "20 12 00 0B 00",
                "21 28 00 30 31 32 33 34 35 36 37 38 39 30 31 32 33 34 35 36 37 38 39"
            ),
            (
                "multiple variable, no room for more than the length of a configuration",
                "20 22 00 22 00 22 00 22 00 09 00",
                "21 03 00 07 08 09 03 00 07 08 09 03 00 07 08 09 03 00 07 08 09 02 00"
            ),
            ("multiple variable, one not readable", "20 0B 00 0E 00", "01 20 0E 00 02"),
            ("multiple variable, one not there", "20 00 00 0E 00", "01 20 00 00 01"),
        ])
    func reading(_ name: String, _ request: String, _ response: String) {
        var bench = ServerBench(.example())
        #expect(bench.send(request) == response, "\(name)")
    }

    @Test(
        "GATT/SR/GAR/BV-04, BV-07, BV-08: a long value or descriptor is read in parts, and a read at its end is empty",
        arguments: [(0x0003, 40), (0x0004, 50), (0x0006, 44)])
    func long(_ handle: Int, _ length: Int) throws {
        let value = counting(length)
        var database = GATTDatabase()
        _ = try database.add(
            .init(
                uuid: .init(1),
                characteristics: [
                    .init(
                        uuid: .init(2), properties: .read, value: .constant(counting(40)),
                        descriptors: [.init(uuid: "F0D1", value: .constant(counting(50)))]),
                    .init(uuid: .init(3), properties: .read, value: .constant(counting(44))),
                ]))
        var bench = ServerBench(database)
        #expect(bench.send("0A " + littleEndian(handle)) == "0B " + value.prefix(22).hexadecimal())
        for offset in stride(from: 0, to: length, by: 22) {
            let part = value[offset..<min(offset + 22, length)].hexadecimal()
            #expect(bench.send("0C \(littleEndian(handle)) \(littleEndian(offset))") == "0D " + part)
        }
        #expect(bench.send("0C \(littleEndian(handle)) \(littleEndian(length))") == "0D")
        #expect(
            bench.send("0C \(littleEndian(handle)) \(littleEndian(length + 1))") == "01 0C \(littleEndian(handle)) 07")
    }

    @Test("values of one type fill a response, up to 255 octets per element")
    func lists() throws {
        var database = GATTDatabase()
        let value = [UInt8](repeating: 0xAA, count: 300)
        let characteristic = GATTCharacteristicDefinition(
            uuid: .init(0x2A00), properties: .read, value: .constant(value))
        _ = try database.add(.init(uuid: .init(1), characteristics: [characteristic, characteristic, characteristic]))
        var bench = ServerBench(database, mtu: 512)
        let element = [UInt8](repeating: 0xAA, count: 253)
        let response = [0x09, 0xFF, 0x03, 0x00] + element + [0x05, 0x00] + element
        #expect(bench.send("08 01 00 FF FF 00 2A") == response.hexadecimal())
        bench = ServerBench(database, mtu: 511)
        #expect(bench.send("08 01 00 FF FF 00 2A") == ([0x09, 0xFF, 0x03, 0x00] + element).hexadecimal())
    }

    @Test("a list ends before the first unreadable value")
    func listEnds() throws {
        var database = GATTDatabase()
        func characteristic(_ read: GATTPermissions.Requirement) -> GATTCharacteristicDefinition {
            .init(uuid: .init(0x2A00), properties: .read, permissions: .init(read: read), value: .constant([1]))
        }
        _ = try database.add(
            .init(
                uuid: .init(1),
                characteristics: [characteristic(.open), characteristic(.encrypted), characteristic(.open)]))
        var bench = ServerBench(database)
        #expect(bench.send("08 01 00 FF FF 00 2A") == "09 03 03 00 01")
        #expect(bench.send("08 04 00 FF FF 00 2A") == "01 08 05 00 05")
        bench.security = LinkSecurity(isEncrypted: true, encryptionKeySize: 16)
        #expect(bench.send("08 01 00 FF FF 00 2A") == "09 03 03 00 01 05 00 01 07 00 01")
    }
}
