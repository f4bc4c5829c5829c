import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothGATT

@Suite("GATT server: queued writes")
struct ServerQueuedWriteTests {
    /// Prepares a part of a value, which is as long as a PDU of 23 octets takes it, and checks the response.
    private func prepare(_ value: [UInt8], part: Int, of handle: Int, _ bench: inout ServerBench) {
        let octets = value[18 * part..<min(18 * part + 18, value.count)].hexadecimal()
        let parameters = " \(littleEndian(handle)) \(littleEndian(18 * part)) \(octets)"
        #expect(bench.send("16" + parameters) == "17" + parameters)
    }

    @Test("GATT/SR/GAW/BV-05: a long value is written in parts, and replaces the previous value completely")
    func longWrite() {
        var bench = ServerBench(.example())
        let value = counting(37)
        for part in 0..<3 { prepare(value, part: part, of: 0x0012, &bench) }
        #expect(bench.server.database.value(of: 0x0012)?.count == 40, "nothing is written before the queue is executed")
        #expect(bench.send("18 01") == "19")
        #expect(bench.outcome == .preparedWritesExecuted([.value(0x0012)]))
        #expect(bench.server.database.value(of: 0x0012) == value)
        #expect(bench.endpoint.servedClient.preparedWrites.count == 0)
        // A shorter one, in parts of any length.
        #expect(bench.send("16 12 00 00 00 61 62 63") == "17 12 00 00 00 61 62 63")
        #expect(bench.send("16 12 00 03 00 64 65") == "17 12 00 03 00 64 65")
        #expect(bench.send("18 01") == "19")
        #expect(bench.server.database.value(of: 0x0012) == Array("abcde".utf8))
    }

    @Test("GATT/SR/GAW/BV-09: a long descriptor is written in parts, and read back")
    func longDescriptor() throws {
        var database = GATTDatabase()
        _ = try database.add(
            .init(
                uuid: "F000",
                characteristics: [
                    .init(
                        uuid: "F001", properties: .read, value: .constant([1]),
                        descriptors: [
                            GATTDescriptorDefinition(
                                uuid: "F0D1", permissions: .init(read: .open, write: .open),
                                value: .variableLength([], maximum: 64))
                        ])
                ]))
        var bench = ServerBench(database)
        let value = counting(40)
        for part in 0..<3 { prepare(value, part: part, of: 0x0004, &bench) }
        #expect(bench.server.database.value(of: 0x0004) == [])
        #expect(bench.send("18 01") == "19")
        #expect(bench.server.database.value(of: 0x0004) == value)
        #expect(bench.send("0A 04 00") == "0B " + value.prefix(22).hexadecimal())
        #expect(bench.send("0C 04 00 16 00") == "0D " + value.suffix(18).hexadecimal())
    }

    @Test("GATT/SR/GAW/BV-10: parts of two long values are prepared in turn, and written together")
    func nested() throws {
        var database = GATTDatabase()
        let characteristic = GATTCharacteristicDefinition(
            uuid: "F001", properties: [.read, .write], value: .variableLength([9], maximum: 64))
        _ = try database.add(.init(uuid: "F000", characteristics: [characteristic, characteristic]))
        var bench = ServerBench(database)
        let one = counting(40), other = counting(50, from: 100)
        prepare(one, part: 0, of: 0x0003, &bench)
        prepare(other, part: 0, of: 0x0005, &bench)
        for part in 1..<3 { prepare(one, part: part, of: 0x0003, &bench) }
        for part in 1..<3 { prepare(other, part: part, of: 0x0005, &bench) }
        for handle in [3, 5] as [AttributeHandle] { #expect(bench.server.database.value(of: handle) == [9]) }
        #expect(bench.send("18 01") == "19")
        #expect(bench.outcome == .preparedWritesExecuted([.value(0x0003), .value(0x0005)]))
        #expect(bench.server.database.value(of: 0x0003) == one)
        #expect(bench.server.database.value(of: 0x0005) == other)
    }

    @Test("GATT/SR/GAW/BV-06: several values change together")
    func reliableWrite() {
        var bench = ServerBench(.example())
        for parameters in [" 0E 00 00 00 01 02", " 0B 00 01 00 AA BB", " 12 00 26 00 78 79", " 0E 00 02 00 03"] {
            #expect(bench.send("16" + parameters) == "17" + parameters)
        }
        #expect(bench.server.database.value(of: 0x000E) == [])
        #expect(bench.send("18 01") == "19")
        #expect(bench.outcome == .preparedWritesExecuted([.value(0x000E), .value(0x000B), .value(0x0012)]))
        #expect(bench.server.database.value(of: 0x000E) == [1, 2, 3])
        #expect(bench.server.database.value(of: 0x000B) == [1, 0xAA, 0xBB, 4])
        #expect(bench.server.database.value(of: 0x0012)?.suffix(4) == Array("67xy".utf8)[...])
    }

    @Test(
        "A10: one invalid part leaves all values unchanged",
        arguments: [
            ("GATT/SR/GAW/BI-09: an offset past the end", "16 0B 00 05 00 01", "01 18 0B 00 07"),
            ("GATT/SR/GAW/BI-33: a part past the end of a fixed length", "16 0B 00 03 00 01 02", "01 18 0B 00 0D"),
            ("a part past the longest of a variable length", "16 12 00 00 02 01", "01 18 12 00 07"),
            ("an offset past everything", "16 12 00 FF FF 01", "01 18 12 00 07"),
            ("a configuration of one octet too many", "16 09 00 02 00 01", "01 18 09 00 0D"),
            ("a configuration past its end", "16 09 00 03 00 00", "01 18 09 00 07"),
        ])
    func atomic(_ name: String, _ request: String, _ response: String) {
        var bench = ServerBench(.example())
        #expect(bench.send("16 0E 00 00 00 01 02") == "17 0E 00 00 00 01 02")
        #expect(bench.send(request).hasPrefix("17"), "\(name)")
        #expect(bench.send("16 12 00 00 00 01 02") == "17 12 00 00 00 01 02")
        #expect(bench.send("18 01") == response, "\(name)")
        #expect(bench.server.database.value(of: 0x000B) == [1, 2, 3, 4])
        #expect(bench.server.database.value(of: 0x000E) == [])
        #expect(bench.server.database.value(of: 0x0012)?.count == 40)
        #expect(bench.endpoint.servedClient.configuration(of: 0x0008) == [])
        #expect(bench.endpoint.servedClient.preparedWrites.count == 0)
    }

    @Test("A10: a value of 512 octets is written at the smallest ATT_MTU, and no longer value")
    func longest() {
        var bench = ServerBench(.example())
        func part(_ offset: Int, _ count: Int) -> [UInt8] {
            written {
                $0.append([0x16, 0x12, 0x00])
                $0.append(UInt16(offset))
                $0.append([UInt8](repeating: 0x5A, count: count))
            }
        }
        for offset in stride(from: 0, to: 504, by: 18) { #expect(bench.send(part(offset, 18)).hasPrefix("17")) }
        #expect(bench.send(part(504, 8)).hasPrefix("17"))
        #expect(bench.send("18 01") == "19")
        #expect(bench.server.database.value(of: 0x0012) == [UInt8](repeating: 0x5A, count: 512))
        #expect(bench.send("16 12 00 00 02 01").hasPrefix("17"))
        #expect(bench.send("18 01") == "01 18 12 00 0D")
    }

    @Test("GATT/SR/GAW/BI-06, BI-07: a value that cannot be written cannot be prepared")
    func refused() {
        var bench = ServerBench(.example())
        #expect(bench.send("16 19 00 00 00 01") == "01 16 19 00 01")
        #expect(bench.send("16 03 00 00 00 01") == "01 16 03 00 03")
        #expect(bench.send("18 01") == "19")
        #expect(bench.outcome == .preparedWritesExecuted([]))
    }

    @Test("GATT/SR/GAW/BV-07: a cancelled queue changes nothing")
    func cancelled() {
        var bench = ServerBench(.example())
        #expect(bench.send("16 0B 00 00 00 09 08 07 06") == "17 0B 00 00 00 09 08 07 06")
        #expect(bench.send("16 0E 00 00 00 01 02") == "17 0E 00 00 00 01 02")
        #expect(bench.send("18 00") == "19")
        #expect(bench.outcome == .none)
        #expect(bench.send("0A 0B 00") == "0B 01 02 03 04")
        #expect(bench.send("18 01") == "19")
        #expect(bench.outcome == .preparedWritesExecuted([]))
        #expect(bench.send("0A 0B 00") == "0B 01 02 03 04")
        #expect(bench.server.database.value(of: 0x000E) == [])
    }

    @Test("GATT/SR/GAW/BV-11: an execution with nothing prepared succeeds and writes nothing")
    func nothingPrepared() {
        var bench = ServerBench(.example())
        #expect(bench.send("18 01") == "19")
        #expect(bench.outcome == .preparedWritesExecuted([]))
        #expect(bench.send("0A 0B 00") == "0B 01 02 03 04")
        #expect(bench.server.database.value(of: 0x000E) == [])
        #expect(bench.server.database.value(of: 0x0012)?.count == 40)
    }

    @Test(
        "A10: flags other than 0 and 1 are an invalid PDU, and the queue is kept",
        arguments: ["18 02", "18 FF", "18", "18 01 00"])
    func badFlags(_ request: String) {
        var bench = ServerBench(.example())
        _ = bench.send("16 0E 00 00 00 01 02")
        #expect(bench.send(request) == "01 18 00 00 04")
        #expect(bench.endpoint.servedClient.preparedWrites.count == 1)
    }

    @Test("A10: the queue is bounded in writes and in octets, for each client")
    func bounded() {
        var bench = ServerBench(.example())
        for _ in 0..<64 { #expect(bench.send("16 0E 00 00 00") == "17 0E 00 00 00") }
        for _ in 0..<1000 { #expect(bench.send("16 0E 00 00 00") == "01 16 0E 00 09") }
        #expect(bench.endpoint.servedClient.preparedWrites.count == 64)
        bench.meet(GATTServedClient(preparedWriteLimits: .init(count: 10, octets: 5)))
        #expect(bench.send("16 0E 00 00 00 01 02 03") == "17 0E 00 00 00 01 02 03")
        #expect(bench.send("16 0E 00 00 00 01 02 03") == "01 16 0E 00 09")
        #expect(bench.send("16 0E 00 03 00 04 05") == "17 0E 00 03 00 04 05")
        #expect(bench.send("18 01") == "19")
        #expect(bench.server.database.value(of: 0x000E) == [1, 2, 3, 4, 5])
    }

    @Test("the application receives all parts for dynamic values together")
    func dynamic() throws {
        var bench = ServerBench(.example())
        _ = bench.send("16 14 00 00 00 01 02")
        _ = bench.send("16 0E 00 00 00 0A")
        _ = bench.send("16 14 00 02 00 03")
        #expect(bench.send("18 01") == "")
        let token = try #require(bench.token)
        #expect(bench.outcome == .executeRequested(token))
        let queue = bench.endpoint.preparedWrites(for: token)
        #expect((0..<queue.count).map { queue.handle(at: $0) } == [0x0014, 0x000E, 0x0014])
        #expect((0..<queue.count).map { queue.offset(at: $0) } == [0, 0, 2])
        #expect((0..<queue.count).map { Array(queue.value(at: $0)) } == [[1, 2], [0x0A], [3]])
        #expect(bench.server.database.value(of: 0x000E) == [])
        #expect(try bench.accept(token) == "19")
        #expect(bench.outcome == .preparedWritesExecuted([.value(0x000E)]))
        #expect(bench.server.database.value(of: 0x000E) == [0x0A])
    }

    @Test("a refused execution discards the whole queue")
    func dynamicRefused() throws {
        var bench = ServerBench(.example())
        _ = bench.send("16 0E 00 00 00 0A")
        _ = bench.send("16 14 00 00 00 01 02")
        _ = bench.send("18 01")
        #expect(try bench.refuse(bench.token, .init(rawValue: 0x80), at: 0x0014) == "01 18 14 00 80")
        #expect(bench.server.database.value(of: 0x000E) == [])
        #expect(bench.endpoint.servedClient.preparedWrites.count == 0)
    }

    @Test("parts for a dynamic value beyond 512 octets are rejected without asking the application")
    func dynamicTooLong() {
        var bench = ServerBench(.example())
        _ = bench.send("16 14 00 FF 01 01 02")
        #expect(bench.send("18 01") == "01 18 14 00 0D")
        _ = bench.send("16 14 00 01 02 01")
        #expect(bench.send("18 01") == "01 18 14 00 07")
    }

    @Test("a configuration may also be a queued write")
    func configuration() {
        var bench = ServerBench(.example())
        _ = bench.send("16 09 00 00 00 03")
        #expect(bench.send("18 01") == "19")
        let change = GATTSubscriptionChange(characteristic: 0x0008, old: [], new: [.notifications, .indications])
        #expect(bench.outcome == .preparedWritesExecuted([.subscription(change)]))
    }
}
