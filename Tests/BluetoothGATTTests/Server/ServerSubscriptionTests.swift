import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothGATT

@Suite("GATT server: subscriptions, notifications and indications")
struct ServerSubscriptionTests {
    @Test("GATT/SR/GAW/BV-08: each client has its own configuration")
    func perLink() {
        var bench = ServerBench(.example())
        #expect(bench.send("12 09 00 01 00") == "13")
        #expect(bench.outcome == .subscriptionChanged(.init(characteristic: 0x0008, old: [], new: .notifications)))
        #expect(bench.send("0A 09 00") == "0B 01 00")
        let first = bench.endpoint
        bench.meet(GATTServedClient())
        #expect(bench.send("0A 09 00") == "0B 00 00")
        #expect(bench.send("12 09 00 02 00") == "13")
        #expect(bench.send("06 01 00 FF FF 02 29 02 00") == "07 09 00 09 00")
        bench.endpoint = first
        #expect(bench.send("0A 09 00") == "0B 01 00")
        #expect(bench.send("12 09 00 01 00") == "13")
        #expect(bench.outcome == .none, "nothing changed")
        #expect(bench.send("12 09 00 00 00") == "13")
        #expect(bench.outcome == .subscriptionChanged(.init(characteristic: 0x0008, old: .notifications, new: [])))
        #expect(bench.endpoint.servedClient.subscriptions.isEmpty)
    }

    @Test(
        "A11: an invalid configuration is refused",
        arguments: [
            ("no octet", "12 09 00", "01 12 09 00 0D"), ("one octet", "12 09 00 01", "01 12 09 00 0D"),
            ("three octets", "12 09 00 01 00 00", "01 12 09 00 0D"),
            ("indications, and a reserved bit", "12 13 00 06 00", "01 12 13 00 FD"),
            ("indications that the characteristic does not have", "12 13 00 02 00", "01 12 13 00 FD"),
        ])
    func refused(_ name: String, _ request: String, _ response: String) throws {
        var database = GATTDatabase.example()
        _ = try database.removeService(at: 0x000F)
        let notifying = GATTCharacteristicDefinition(uuid: .init(2), properties: .notify)
        let handles = try database.add(.init(uuid: .init(1), characteristics: [notifying]), at: 0x0010)
        #expect(handles.characteristics.first?.clientConfiguration == 0x0013)
        var bench = ServerBench(database)
        #expect(bench.send(request) == response, "\(name)")
        #expect(bench.endpoint.servedClient.subscriptions.isEmpty)
    }

    @Test(
        "reserved bits are ignored (Part G, 3.3.3.3)",
        arguments: [("04 00", "00 00"), ("05 00", "01 00"), ("03 80", "03 00")])
    func reserved(_ written: String, _ read: String) {
        var bench = ServerBench(.example())
        #expect(bench.send("12 09 00 " + written) == "13")
        #expect(bench.send("0A 09 00") == "0B " + read)
    }

    @Test("GATT/SR/GAN/BV-01: only a subscribed client is notified")
    func notification() throws {
        var bench = ServerBench(.example())
        #expect(throws: GATTServerError.notSubscribed(0x0008)) { try bench.notify(0x0008, "01") }
        _ = bench.send("12 09 00 02 00")
        #expect(throws: GATTServerError.notSubscribed(0x0008)) { try bench.notify(0x0008, "01") }
        _ = bench.send("12 09 00 01 00")
        #expect(try bench.notify(0x0008, "01 02") == "1B 08 00 01 02")
        #expect(throws: GATTServerError.notSubscribed(0x0009)) { try bench.notify(0x0009, "01") }
        let longest = String(repeating: " AA", count: 20)
        #expect(try bench.notify(0x0008, longest) == "1B 08 00" + longest)
        #expect(throws: GATTServerError.valueTooLong(maximum: 20)) { try bench.notify(0x0008, longest + "AA") }
    }

    @Test("GATT/SR/GAI/BV-01: indications are sent one at a time, each confirmed")
    func indication() throws {
        var bench = ServerBench(.example())
        _ = bench.send("12 09 00 01 00")
        #expect(throws: GATTServerError.notSubscribed(0x0008)) { try bench.indicate(0x0008, "01") }
        _ = bench.send("12 09 00 03 00")
        #expect(throws: GATTServerError.valueTooLong(maximum: 20)) {
            try bench.indicate(0x0008, String(repeating: "AA", count: 21))
        }
        #expect(try bench.indicate(0x0008, "01 02") == "1D 08 00 01 02")
        #expect(throws: GATTServerError.indicationPending) { try bench.indicate(0x0008, "01") }
        #expect(try bench.notify(0x0008, "05") == "1B 08 00 05")
        #expect(bench.send("0A 03 00") == "0B 54 68 69 6E 67")
        #expect(bench.send("1E") == "")
        #expect(bench.outcome == .confirmationReceived(0x0008))
        #expect(try bench.indicate(0x0008, "03") == "1D 08 00 03")
    }

    @Test("A15: a confirmation without an indication is ignored, and a malformed one confirms nothing")
    func strayConfirmation() throws {
        var bench = ServerBench(.example())
        #expect(bench.send("1E") == "")
        #expect(bench.outcome == .dropped(.unexpectedConfirmation))
        _ = bench.send("12 09 00 02 00")
        _ = try bench.indicate(0x0008, "01")
        #expect(bench.send("1E 00") == "")
        #expect(bench.outcome == .dropped(.malformed))
        #expect(throws: GATTServerError.indicationPending) { try bench.indicate(0x0008, "01") }
    }

    @Test("GATT/SR/GAN/BV-02: several values are sent in one notification to a client that supports it")
    func multiple() throws {
        let notifying = GATTCharacteristicDefinition(uuid: .init(2), properties: .notify)
        var database = GATTDatabase()
        _ = try database.add(.genericAttribute())
        _ = try database.add(.init(uuid: .init(1), characteristics: [notifying, notifying]), at: 0x0010)
        var bench = ServerBench(database)
        func notify(_ values: [(AttributeHandle, [UInt8])]) throws(GATTServerError) -> String {
            var writer = ByteWriter()
            try bench.endpoint.notify(
                values.map { AttributeValue(handle: $0.0, value: $0.1) }, from: bench.server, into: &writer)
            return writer.bytes.hexadecimal()
        }
        _ = bench.send("12 13 00 01 00")
        _ = bench.send("12 16 00 01 00")
        let values: [(AttributeHandle, [UInt8])] = [(0x0012, [1]), (0x0015, [2, 3])]
        #expect(throws: GATTServerError.multipleNotificationsNotSupported) { try notify(values) }
        // The feature, and all reserved bits, which stay 0.
        #expect(bench.send("12 06 00 FC") == "13")
        #expect(bench.send("0A 06 00") == "0B 04")
        #expect(try notify(values) == "23 12 00 01 00 01 15 00 02 00 02 03")
        let first = bench.endpoint
        bench.meet(GATTServedClient())
        #expect(bench.send("0A 06 00") == "0B 00", "another client has its own features")
        _ = bench.send("12 13 00 01 00")
        _ = bench.send("12 16 00 01 00")
        #expect(throws: GATTServerError.multipleNotificationsNotSupported) { try notify(values) }
        bench.endpoint = first
        #expect(throws: GATTServerError.multipleNotificationsNotSupported) { try notify([values[0]]) }
        #expect(throws: GATTServerError.valueTooLong(maximum: 22)) {
            try notify([(0x0012, .init(repeating: 0, count: 8)), (0x0015, .init(repeating: 0, count: 7))])
        }
        _ = bench.send("12 13 00 00 00")
        #expect(throws: GATTServerError.notSubscribed(0x0012)) { try notify(values) }
    }

    @Test("many subscriptions are kept in order, whatever order they arrive in")
    func many() throws {
        let notifying = GATTCharacteristicDefinition(uuid: .init(2), properties: .notify)
        var database = GATTDatabase()
        let handles = try database.add(
            .init(uuid: .init(1), characteristics: .init(repeating: notifying, count: 50))
        ).characteristics
        var bench = ServerBench(database)
        for step in 0..<50 {
            let handle = try #require(handles[step * 37 % 50].clientConfiguration)
            let pdu = written {
                $0.append(UInt8(0x12))
                $0.append(handle)
                $0.append(UInt16(1))
            }
            #expect(bench.send(pdu) == "13")
        }
        #expect(bench.endpoint.servedClient.subscriptions.map(\.characteristic) == handles.map(\.value))
        #expect(
            bench.endpoint.servedClient.subscriptions.map(\.descriptor) == handles.compactMap(\.clientConfiguration))
    }

    @Test(
        "GATT/SR/GAN/BV-03, GAI/BV-02: a bonded client is notified and indicated on a new link without resubscribing")
    func bonded() throws {
        var bench = ServerBench(.example())
        #expect(bench.send("12 09 00 03 00") == "13")
        let stored = bench.endpoint.servedClient.subscriptions
        bench.meet(GATTServedClient())
        #expect(throws: GATTServerError.notSubscribed(0x0008)) { try bench.notify(0x0008, "01") }
        let changes = bench.endpoint.restore(stored, features: [], from: bench.server)
        #expect(changes.map(\.isRestored) == [true])
        #expect(try bench.notify(0x0008, "01") == "1B 08 00 01")
        #expect(try bench.indicate(0x0008, "02") == "1D 08 00 02")
        #expect(bench.send("1E") == "")
        #expect(bench.outcome == .confirmationReceived(0x0008))
        #expect(bench.send("0A 09 00") == "0B 03 00")
    }

    @Test("GATT/SR/GAT/BV-01: an indication that is not confirmed within 30 seconds ends the bearer")
    func unconfirmed() throws {
        var bench = ServerBench(.example())
        _ = bench.send("12 09 00 02 00")
        #expect(try bench.indicate(0x0008, "01") == "1D 08 00 01")
        let end = Instant.zero.advanced(by: .seconds(30))
        #expect(bench.endpoint.dueChannel(at: end.advanced(by: .milliseconds(-1))) == nil)
        #expect(bench.endpoint.dueChannel(at: end) == .first)
        var writer = ByteWriter()
        let expiry = bench.endpoint.fire(.first, server: bench.server, at: end, into: &writer)
        #expect(expiry == .channelDied(.indication))
        #expect(writer.bytes == [], "the indication is not repeated")
        #expect(bench.endpoint.nextDeadline == nil)
        #expect(bench.send("1E") == "")
        #expect(bench.outcome == .dropped(.bearerClosed))
        #expect(throws: GATTServerError.bearerClosed) { try bench.indicate(0x0008, "02") }
        #expect(bench.send("0A 03 00") == "")
    }

    @Test("a bonded client's subscriptions are restored, and those of a removed service are dropped")
    func restored() throws {
        var database = GATTDatabase.example()
        // In place of the service that includes the one that goes.
        _ = try database.removeService(at: 0x000F)
        let value = GATTCharacteristicDefinition(
            uuid: exampleUUID(0x33), properties: [.read, .write], value: .variableLength([]))
        _ = try database.add(.init(uuid: exampleUUID(0x32), characteristics: [value]), at: 0x0010)
        var bench = ServerBench(database)
        _ = bench.send("12 09 00 01 00")
        bench.meet(GATTServedClient(subscriptions: bench.endpoint.servedClient.subscriptions))
        #expect(try bench.notify(0x0008, "01") == "1B 08 00 01")
        _ = bench.send("16 0B 00 00 00 01")
        _ = bench.send("16 12 00 00 00 02 03")
        let range = try bench.server.database.removeService(at: 0x0006)
        #expect(throws: GATTServerError.notSubscribed(0x0008)) { try bench.notify(0x0008, "01") }
        bench.endpoint.forget(range)
        #expect(bench.endpoint.servedClient.subscriptions.isEmpty)
        #expect(bench.endpoint.servedClient.preparedWrites.count == 1)
        #expect(bench.send("18 01") == "19")
        #expect(bench.server.database.value(of: 0x0012) == [2, 3])
    }
}
