import BluetoothATT
import BluetoothBase
import BluetoothGATT
import TestSupport
import Testing

/// The fixed bearer, two enhanced ones and an unenhanced one over BR/EDR, in every pair. An enhanced bearer is the same
/// over either transport.
@Suite("Attribute endpoint: procedures over two bearers at once (Vol 3, Part F, 3.2.11)")
struct EndpointBearerTests {
    static let pairs = (0..<4).flatMap { one in (0..<4).filter { $0 != one }.map { (one, $0) } }

    private func bench(_ pair: (Int, Int)) throws -> (EndpointBench, AttributeChannel.ID, AttributeChannel.ID) {
        var bench = try EndpointBench()
        let channels = [
            bench.first, bench.second, bench.endpoint.open(ATTBearer(channelMTU: 100)),
            bench.endpoint.open(ATTBearer(brEDRChannelMTU: 100)),
        ]
        return (bench, channels[pair.0], channels[pair.1])
    }

    /// A value of the greatest length, which takes 29 parts at the smallest MTU.
    private static let long = counting(512)

    /// The same endpoint, whose database also has a value of up to 512 octets at 000D.
    private func longBench(
        _ pair: (Int, Int)
    ) throws -> (EndpointBench, AttributeChannel.ID, AttributeChannel.ID) {
        var (bench, one, other) = try bench(pair)
        let handles = try bench.server.database.add(
            .init(
                uuid: "180A",
                characteristics: [
                    .init(uuid: "2A04", properties: [.read, .write], value: .variableLength([9], maximum: 512))
                ]))
        #expect(handles.characteristics[0].value == 0x000D)
        return (bench, one, other)
    }

    /// Prepares parts of the long value, on the channels in turn.
    private func prepare(_ parts: Range<Int>, on channels: [AttributeChannel.ID], _ bench: inout EndpointBench) {
        for part in parts {
            let octets = Self.long[18 * part..<min(18 * part + 18, 512)].hexadecimal()
            let parameters = " 0D 00 \(littleEndian(18 * part)) \(octets)"
            #expect(bench.receive("16" + parameters, on: channels[part % channels.count]) == "17" + parameters)
        }
    }

    @Test("GATT/CL/GAR/BV-10, BV-11: values are read on both bearers, and answered in any order", arguments: pairs)
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
        "GATT/SR/GAR/BV-11, BV-12: values are returned on both bearers, even while the application keeps one waiting",
        arguments: pairs)
    func tellMultipleVariable(_ one: Int, _ other: Int) throws {
        var (bench, one, other) = try bench((one, other))
        #expect(bench.receive("20 05 00 03 00", on: one) == "")
        let token = try #require(bench.token)
        #expect(token.channel == one)
        #expect(bench.receive("20 05 00 07 00", on: other) == "21 01 00 CC 00 00")
        #expect(try bench.answer(token, "01 02") == "21 01 00 CC 02 00 01 02")
    }

    @Test("GATT/SR/GAW/BV-12: writes prepared on both bearers are executed from one", arguments: pairs)
    func prepared(_ one: Int, _ other: Int) throws {
        var (bench, one, other) = try longBench((one, other))
        prepare(0..<29, on: [one, other], &bench)
        #expect(bench.server.database.value(of: 0x000D) == [9])
        #expect(bench.receive("18 01", on: other) == "19")
        #expect(bench.server.database.value(of: 0x000D) == Self.long)
        #expect(bench.receive("18 01", on: one) == "19")
        #expect(bench.server.database.value(of: 0x000D) == Self.long)
    }

    @Test("GATT/SR/GAW/BV-13: cancelling the prepared writes on one bearer cancels them for both", arguments: pairs)
    func cancelled(_ one: Int, _ other: Int) throws {
        var (bench, one, other) = try longBench((one, other))
        prepare(0..<29, on: [one, other], &bench)
        #expect(bench.receive("18 00", on: one) == "19")
        #expect(bench.server.database.value(of: 0x000D) == [9])
        #expect(bench.receive("18 01", on: other) == "19")
        #expect(bench.server.database.value(of: 0x000D) == [9])
    }

    @Test(
        "GATT/SR/GAW/BV-14: writes prepared on a bearer that has closed are executed from the other",
        arguments: pairs)
    func fallback(_ one: Int, _ other: Int) throws {
        var (bench, one, other) = try longBench((one, other))
        prepare(0..<28, on: [one, other], &bench)
        bench.endpoint.close(one)
        prepare(28..<29, on: [other], &bench)
        #expect(bench.receive("18 01", on: other) == "19")
        #expect(bench.server.database.value(of: 0x000D) == Self.long)
    }

    @Test(
        "GATT/SR/GPM/BV-01 to BV-06: a subscription belongs to the client, whichever bearer it came over",
        arguments: pairs)
    func subscription(_ one: Int, _ other: Int) throws {
        var (bench, one, other) = try bench((one, other))
        #expect(bench.receive("12 0A 00 00 00", on: one) == "13")
        #expect(bench.receive("0A 0A 00", on: one) == "0B 00 00")
        #expect(bench.receive("12 0A 00 01 00", on: other) == "13")
        for channel in [other, one] { #expect(bench.receive("0A 0A 00", on: channel) == "0B 01 00") }
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
        "Database Out Of Sync on one bearer fails only the operation on that bearer",
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

    @Test("GATT/CL/GAI/BI-01: each of many indications is confirmed on its own bearer", arguments: pairs)
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
