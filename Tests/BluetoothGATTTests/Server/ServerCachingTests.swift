import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothGATT

/// Handles: Service Changed 0003 and its descriptor 0004, Client Supported Features 0006, Database Hash 0008, a level
/// 000B with its descriptor 000C.
@Suite("GATT server: robust caching (Vol 3, Part G, 2.5.2.1)")
struct ServerCachingTests {
    private func bench(robust: Bool = true) throws -> ServerBench {
        var database = GATTDatabase()
        _ = try database.add(.genericAttribute(hasDatabaseHash: true))
        _ = try database.add(
            .init(
                uuid: "180F",
                characteristics: [
                    .init(
                        uuid: "2A19", properties: [.read, .write, .writeWithoutResponse, .notify, .indicate],
                        value: .variableLength([0x64]))
                ]))
        var bench = ServerBench(database)
        #expect(bench.send("12 0C 00 03 00") == "13")
        if robust { #expect(bench.send("12 06 00 01") == "13") }
        return bench
    }

    @Test(
        "a command is ignored, and a request for a handle is answered with Database Out Of Sync once, then served",
        arguments: [
            ("0A 0B 00", "01 0A 0B 00 12", "0B 64"),
            ("0C 0B 00 00 00", "01 0C 0B 00 12", "0D 64"),
            ("0E 0B 00 0B 00", "01 0E 0B 00 12", "0F 64 64"),
            ("20 0B 00 0B 00", "01 20 0B 00 12", "21 01 00 64 01 00 64"),
            ("12 0B 00 32", "01 12 0B 00 12", "13"),
            ("16 0B 00 00 00 32", "01 16 0B 00 12", "17 0B 00 00 00 32"),
            ("08 09 00 FF FF 19 2A", "01 08 09 00 12", "09 03 0B 00 64"),
            ("08 01 00 FE FF 19 2A", "01 08 01 00 12", "09 03 0B 00 64"),
            // Also of the hash. The host answers those.
            ("0A 08 00", "01 0A 08 00 12", ""), ("08 02 00 FF FF 2A 2B", "01 08 02 00 12", ""),
        ])
    func requests(request: String, refused: String, served: String) throws {
        var bench = try bench()
        bench.endpoint.databaseChanged()
        #expect(bench.send("52 0B 00 32") == "")
        #expect(bench.outcome == .dropped(.databaseOutOfSync))
        #expect(bench.send(request) == refused)
        #expect(bench.outcome.isRefused(with: .databaseOutOfSync))
        #expect(bench.endpoint.servedClient.isChangeUnaware)
        #expect(bench.send(request) == served)
        #expect(!bench.endpoint.servedClient.isChangeUnaware)
    }

    @Test(
        "discovery, a read over all handles, an MTU exchange and an execution concern no handle, and are served",
        arguments: [
            ("10 01 00 FF FF 00 28", "11 06 01 00 08 00 01 18 09 00 0C 00 0F 18"),
            ("04 0C 00 0C 00", "05 01 0C 00 02 29"),
            ("06 01 00 FF FF 00 28 0F 18", "07 09 00 0C 00"),
            ("08 09 00 FF FF 03 28", "09 07 0A 00 3E 0B 00 19 2A"),
            ("08 01 00 FF FF 19 2A", "09 03 0B 00 64"), ("18 00", "19"), ("02 17 00", "03 05 02"),
        ])
    func discovery(request: String, served: String) throws {
        var bench = try bench()
        bench.endpoint.databaseChanged()
        #expect(bench.send(request) == served)
        #expect(bench.endpoint.servedClient.isChangeUnaware)
        #expect(bench.send("0A 0B 00") == "01 0A 0B 00 12")
    }

    @Test(
        "commands from a change-unaware client are ignored",
        arguments: ["52 0B 00 32", "D2 0B 00 32 00 00 00 00 00 00 00 00 00 00 00 00"])
    func commands(command: String) throws {
        var bench = try bench()
        bench.endpoint.databaseChanged()
        #expect(bench.send(command) == "")
        #expect(bench.outcome == .dropped(.databaseOutOfSync))
        #expect(bench.server.database.value(of: 0x000B) == [0x64])
        #expect(bench.endpoint.servedClient.isChangeUnaware)
    }

    @Test("a client that reads the hash over all handles becomes change-aware with its next request")
    func hash() throws {
        var bench = try bench()
        bench.endpoint.databaseChanged()
        #expect(bench.send("08 01 00 FF FF 2A 2B") == "")
        let answer = try bench.answer(bench.token, "01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10")
        #expect(answer.hasSuffix("01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10"))
        // It has the response when its next request comes, and not before.
        #expect(bench.send("52 0B 00 32") == "")
        #expect(bench.outcome == .dropped(.databaseOutOfSync))
        #expect(bench.send("0A 0B 00") == "0B 64")
        #expect(!bench.endpoint.servedClient.isChangeUnaware)
    }

    @Test("a change-unaware client receives only Service Changed")
    func values() throws {
        var bench = try bench()
        #expect(bench.send("12 04 00 02 00") == "13")
        bench.endpoint.databaseChanged()
        #expect(throws: GATTServerError.changeUnaware) { try bench.notify(0x000B, "32") }
        #expect(throws: GATTServerError.changeUnaware) { try bench.indicate(0x000B, "32") }
        #expect(try bench.indicate(0x0003, "09 00 0C 00") == "1D 03 00 09 00 0C 00")
        _ = bench.send("1E")
        bench.endpoint.changeConfirmed()
        #expect(try bench.notify(0x000B, "32") == "1B 0B 00 32")
    }

    @Test("a further change is answered with Database Out Of Sync again")
    func twice() throws {
        var bench = try bench()
        bench.endpoint.databaseChanged()
        #expect(bench.send("0A 0B 00") == "01 0A 0B 00 12")
        bench.endpoint.databaseChanged()
        #expect(bench.send("0A 0B 00") == "01 0A 0B 00 12")
        #expect(bench.send("0A 0B 00") == "0B 64")
    }

    @Test("a client without robust caching is served as before")
    func notAsked() throws {
        var bench = try bench(robust: false)
        bench.endpoint.databaseChanged()
        #expect(bench.send("0A 0B 00") == "0B 64")
        #expect(bench.send("52 0B 00 32") == "")
        #expect(bench.server.database.value(of: 0x000B) == [0x32])
    }

    @Test(
        "a malformed request is answered with Invalid PDU, and does not make the client change-aware",
        arguments: ["0A 0B", "08 01 00 FF"])
    func malformed(request: String) throws {
        var bench = try bench()
        bench.endpoint.databaseChanged()
        #expect(bench.send(request).hasSuffix("04"))
        #expect(bench.send("0A 0B 00") == "01 0A 0B 00 12")
    }
}

extension GATTServerOutcome {
    func isRefused(with code: ATTErrorCode) -> Bool {
        if case .refused(let error) = self { error.code == code } else { false }
    }
}
