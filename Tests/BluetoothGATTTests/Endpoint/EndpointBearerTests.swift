import BluetoothATT
import BluetoothBase
import BluetoothGATT
import TestSupport
import Testing

/// The fixed bearer and two enhanced ones, in every pair.
@Suite("Attribute endpoint: procedures over two bearers at once (Vol 3, Part F, 3.2.11)")
struct EndpointBearerTests {
    static let pairs = [(0, 1), (1, 0), (1, 2), (2, 1), (0, 2), (2, 0)]

    private func bench(_ pair: (Int, Int)) throws -> (EndpointBench, AttributeChannel.ID, AttributeChannel.ID) {
        var bench = try EndpointBench()
        let channels = [bench.first, bench.second, bench.endpoint.open(ATTBearer(channelMTU: 100))]
        return (bench, channels[pair.0], channels[pair.1])
    }

    @Test("GATT/CL/GAR/BV-10, BV-11: values are read in both, and answered in any order", arguments: pairs)
    func readMultipleVariable(_ one: Int, _ other: Int) throws {
        var (bench, one, other) = try bench((one, other))
        let first = try bench.start(.readMultipleVariable([3, 5]), on: one)
        let second = try bench.start(.readMultipleVariable([7, 9]), on: other)
        #expect([first.sent, second.sent] == ["20 03 00 05 00", "20 07 00 09 00"])
        #expect(bench.receive("21 01 00 AA 02 00 BB CC", on: other) == "")
        #expect(bench.receive("21 00 00 01 00 DD", on: one) == "")
        #expect(
            bench.takeEvents() == [
                .completed(
                    second.id,
                    .values([AttributeValue(handle: 7, value: [0xAA]), AttributeValue(handle: 9, value: [0xBB, 0xCC])])),
                .completed(
                    first.id, .values([AttributeValue(handle: 3, value: []), AttributeValue(handle: 5, value: [0xDD])])),
            ])
    }

    @Test(
        "GATT/SR/GAR/BV-11, BV-12: values are told in both, though the application keeps one waiting", arguments: pairs)
    func tellMultipleVariable(_ one: Int, _ other: Int) throws {
        var (bench, one, other) = try bench((one, other))
        #expect(bench.receive("20 05 00 03 00", on: one) == "")
        let token = try #require(bench.token)
        #expect(token.channel == one)
        #expect(bench.receive("20 05 00 07 00", on: other) == "21 01 00 CC 00 00")
        #expect(try bench.answer(token, "01 02") == "21 01 00 CC 02 00 01 02")
    }

    @Test("GATT/SR/GAW/BV-12: what is prepared in one is executed from the other", arguments: pairs)
    func prepared(_ one: Int, _ other: Int) throws {
        var (bench, one, other) = try bench((one, other))
        #expect(bench.receive("16 07 00 00 00 01", on: one) == "17 07 00 00 00 01")
        #expect(bench.receive("16 07 00 01 00 02", on: other) == "17 07 00 01 00 02")
        #expect(bench.receive("18 01", on: other) == "19")
        #expect(bench.server.database.value(of: 7) == [1, 2])
        #expect(bench.receive("18 01", on: one) == "19")
    }

    @Test("GATT/SR/GAW/BV-13: what is cancelled in one is cancelled for both", arguments: pairs)
    func cancelled(_ one: Int, _ other: Int) throws {
        var (bench, one, other) = try bench((one, other))
        #expect(bench.receive("16 07 00 00 00 01", on: one) == "17 07 00 00 00 01")
        #expect(bench.receive("16 07 00 01 00 02", on: other) == "17 07 00 01 00 02")
        #expect(bench.receive("18 00", on: one) == "19")
        #expect(bench.receive("18 01", on: other) == "19")
        #expect(bench.server.database.value(of: 7) == [])
    }

    @Test("GATT/SR/GAW/BV-14: what was prepared in one that is gone is executed from the other", arguments: pairs)
    func fallback(_ one: Int, _ other: Int) throws {
        var (bench, one, other) = try bench((one, other))
        #expect(bench.receive("16 07 00 00 00 01", on: one) == "17 07 00 00 00 01")
        bench.endpoint.close(one)
        #expect(bench.receive("16 07 00 01 00 02", on: other) == "17 07 00 01 00 02")
        #expect(bench.receive("18 01", on: other) == "19")
        #expect(bench.server.database.value(of: 7) == [1, 2])
    }

    @Test("GATT/SR/GPM/BV-01 to BV-06: a subscription is the client's, whichever bearer it came over", arguments: pairs)
    func subscription(_ one: Int, _ other: Int) throws {
        var (bench, one, other) = try bench((one, other))
        #expect(bench.receive("12 0A 00 03 00", on: one) == "13")
        #expect(bench.receive("0A 0A 00", on: other) == "0B 03 00")
        #expect(try bench.notify("AA", on: other) == "1B 09 00 AA")
        #expect(try bench.indicate("BB", on: one) == "1D 09 00 BB")
        #expect(bench.receive("1E", on: one) == "")
        bench.endpoint.close(one)
        #expect(bench.receive("0A 0A 00", on: other) == "0B 03 00")
        #expect(bench.receive("12 0A 00 00 00", on: other) == "13")
        #expect(throws: GATTServerError.notSubscribed(9)) { try bench.notify("AA", on: other) }
    }

    @Test(
        "GATT/CL/GPM/BV-07 to BV-12: Database Out Of Sync in one ends what was asked there, and nothing else",
        arguments: pairs)
    func outOfSync(_ one: Int, _ other: Int) throws {
        var (bench, one, other) = try bench((one, other))
        let first = try bench.start(.read(3), on: one), second = try bench.start(.read(5), on: other)
        #expect([first.sent, second.sent] == ["0A 03 00", "0A 05 00"])
        #expect(bench.receive("01 0A 03 00 12", on: one) == "")
        #expect(bench.receive("0B 07", on: other) == "")
        let refusal = ATTError(.databaseOutOfSync, for: .readRequest, at: 3)
        #expect(bench.takeEvents() == [.failed(first.id, .att(refusal)), .completed(second.id, .value([7]))])
        // The hash is read over either, and both go on.
        #expect(try bench.start(.readByUUID(.databaseHash), on: other).sent == "08 01 00 FF FF 2A 2B")
        #expect(bench.receive("01 08 01 00 0A", on: other) == "")
        for channel in [one, other] {
            #expect(try bench.start(.read(3), on: channel).sent == "0A 03 00")
            #expect(bench.receive("0B 08", on: channel) == "")
        }
        #expect(bench.takeEvents().count == 3)
    }

    @Test("GATT/CL/GAI/BI-01: each of many indications is confirmed, on its bearer", arguments: pairs)
    func indications(_ one: Int, _ other: Int) throws {
        var (bench, one, other) = try bench((one, other))
        for octet in 1...9 {
            for channel in [one, other] {
                #expect(bench.receive("1D 09 00 0\(octet)", on: channel) == "1E")
                #expect(bench.outcome == .indication(9, value: 3..<4))
            }
        }
    }
}
