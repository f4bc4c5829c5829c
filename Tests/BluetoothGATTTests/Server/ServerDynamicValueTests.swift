import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothGATT

@Suite("GATT server: values provided by the application")
struct ServerDynamicValueTests {
    /// Three dynamic values of one type at 0003, 0005 and 0007, and a constant of another at 0009.
    func bench(mtu: Int = 23) throws -> ServerBench {
        let dynamic = GATTCharacteristicDefinition(uuid: .init(0x2A00), properties: [.read, .write])
        var database = GATTDatabase()
        _ = try database.add(
            .init(
                uuid: .init(1),
                characteristics: [
                    dynamic, dynamic, dynamic,
                    .init(uuid: .init(0x2A01), properties: .read, value: .constant([0xCC])),
                ]))
        return ServerBench(database, mtu: mtu)
    }

    @Test("A read is answered once the application provides the value") func aReadIsAnsweredLater() throws {
        var bench = try bench()
        #expect(bench.send("0A 03 00") == "")
        let token = try #require(bench.token)
        #expect(bench.outcome == .readRequested(token, handle: 0x0003, offset: 0))
        #expect(try bench.answer(token, "01 02") == "0B 01 02")
        #expect(bench.transaction.nextDeadline == nil)
    }

    @Test("A long value is truncated to the MTU, and the rest is read with an offset")
    func aLongAnswerIsCutAndReadOnWithOffsets() throws {
        var bench = try bench()
        _ = bench.send("0A 03 00")
        let value = String(repeating: "AA", count: 30)
        #expect(try bench.answer(bench.token, value).count == 23 * 3 - 1)
        #expect(bench.send("0C 03 00 16 00") == "")
        let token = try #require(bench.token)
        #expect(bench.outcome == .readRequested(token, handle: 0x0003, offset: 22))
        #expect(try bench.answer(token, "BB CC") == "0D BB CC")
        #expect(bench.send("0C 03 00 01 02") == "01 0C 03 00 07", "no value is longer than 512 octets")
    }

    @Test("A Read By Type Request asks the application for the first value only")
    func aReadByTypeAsksForTheFirstOnly() throws {
        var bench = try bench()
        #expect(bench.send("08 04 00 FF FF 00 2A") == "")
        let token = try #require(bench.token)
        #expect(bench.outcome == .readRequested(token, handle: 0x0005, offset: 0))
        #expect(try bench.answer(token, "01 02") == "09 04 05 00 01 02")
        _ = bench.send("08 04 00 FF FF 00 2A")
        #expect(try bench.answer(bench.token, String(repeating: "AA", count: 30)).hasPrefix("09 15 05 00 AA"))
    }

    @Test("A Read Multiple Request asks the application for one value after another")
    func aReadMultipleAsksForOneAfterTheOther() throws {
        var bench = try bench()
        #expect(bench.send("0E 07 00 09 00 03 00") == "")
        let first = try #require(bench.token)
        #expect(bench.outcome == .readRequested(first, handle: 0x0007, offset: 0))
        #expect(try bench.answer(first, "01 02") == "")
        let second = try #require(bench.token)
        #expect(bench.outcome == .readRequested(second, handle: 0x0003, offset: 0))
        #expect(throws: GATTServerError.staleToken) { try bench.answer(first, "01") }
        #expect(try bench.answer(second, "03") == "0F 01 02 CC 03")
        #expect(bench.outcome == .none)
    }

    @Test("The timeout of a Read Multiple Request starts with the request, and answers do not extend it")
    func theTimeOfAReadMultipleIsThatOfTheRequest() throws {
        var bench = try bench()
        let end = bench.now.advanced(by: bench.server.applicationTimeout)
        #expect(bench.send("0E 03 00 05 00") == "")
        #expect(bench.transaction.nextDeadline == end)
        bench.now = end.advanced(by: .milliseconds(-1))
        #expect(try bench.answer(bench.token, "01") == "")
        #expect(bench.transaction.nextDeadline == end)
        bench.now = end
        #expect(bench.fire() == "01 0E 05 00 0E")
    }

    @Test("A Read Multiple Variable Response states the length of each value and ends at the MTU")
    func aReadMultipleVariableTellsTheLengths() throws {
        var bench = try bench()
        #expect(bench.send("20 07 00 09 00") == "")
        #expect(try bench.answer(bench.token, "01 02") == "21 02 00 01 02 01 00 CC")
        #expect(bench.send("20 07 00 05 00") == "")
        // A response that is full needs no further values.
        let full = "21 14 00" + String(repeating: " AA", count: 20)
        #expect(try bench.answer(bench.token, String(repeating: "AA", count: 20)) == full)
        // One octet is left for the second length.
        #expect(bench.send("20 07 00 05 00") == "")
        #expect(try bench.answer(bench.token, String(repeating: "AA", count: 19)) == "")
        #expect(
            try bench.answer(bench.token, "BB") == "21 13 00" + String(repeating: " AA", count: 19) + " 01")
    }

    @Test(
        "every request can be refused with an application error code",
        arguments: [
            ("0A 03 00", "01 0A 03 00 80"), ("0C 03 00 01 00", "01 0C 03 00 80"),
            ("08 01 00 FF FF 00 2A", "01 08 03 00 80"), ("0E 09 00 05 00", "01 0E 05 00 80"),
            ("20 09 00 07 00", "01 20 07 00 80"), ("12 03 00 01", "01 12 03 00 80"),
        ])
    func refused(_ request: String, _ response: String) throws {
        var bench = try bench()
        #expect(bench.send(request) == "")
        let token = bench.token
        #expect(try bench.refuse(token, .init(rawValue: 0x80)) == response)
        #expect(throws: GATTServerError.staleToken) { try bench.refuse(token, .unlikelyError) }
        #expect(bench.send("0A 09 00") == "0B CC")
    }

    @Test("A write is answered once the application accepts it") func aWriteIsAcceptedLater() throws {
        var bench = try bench()
        #expect(bench.send("12 03 00 01 02") == "")
        let token = try #require(bench.token)
        #expect(bench.outcome == .writeRequested(token, handle: 0x0003, value: 3..<5))
        #expect(try bench.accept(token) == "13")
        #expect(throws: GATTServerError.staleToken) { try bench.accept(token) }
    }

    @Test("A write command is reported to the application and not answered")
    func aWriteCommandIsReportedAndNotAnswered() throws {
        var bench = try bench()
        #expect(bench.send("52 03 00 01 02") == "")
        #expect(bench.outcome == .valueWritten(handle: 0x0003, value: 3..<5))
        #expect(bench.transaction.nextDeadline == nil)
    }

    @Test("An answer of the wrong kind or size throws, and the request stays open")
    func anAnswerOfTheWrongSortLeavesTheRequestOpen() throws {
        var bench = try bench()
        _ = bench.send("12 03 00 01")
        let write = bench.token
        #expect(throws: GATTServerError.wrongAnswer) { try bench.answer(write, "01") }
        #expect(try bench.accept(write) == "13")
        _ = bench.send("0A 03 00")
        let read = bench.token
        #expect(throws: GATTServerError.wrongAnswer) { try bench.accept(read) }
        #expect(throws: GATTServerError.valueTooLong(maximum: 512)) {
            try bench.answer(read, String(repeating: "00", count: 513))
        }
        #expect(try bench.answer(read, "") == "0B")
    }

    @Test("A6: a request is dropped while another is pending, but commands are still processed")
    func pending() throws {
        var bench = try bench()
        _ = bench.send("0A 03 00")
        let token = bench.token
        for request in ["0A 09 00", "12 03 00 01", "02 40 00", "BF"] {
            #expect(bench.send(request) == "")
            #expect(bench.outcome == .dropped(.requestPending))
        }
        #expect(bench.transaction.droppedPDUCount == 4)
        #expect(bench.send("52 05 00 01") == "")
        #expect(bench.outcome == .valueWritten(handle: 0x0005, value: 3..<4))
        #expect(try bench.answer(token, "01") == "0B 01")
        #expect(bench.send("0A 09 00") == "0B CC")
    }

    @Test("A6: if the application does not answer within 25 seconds, the server responds with an error")
    func expiry() throws {
        var bench = try bench()
        bench.now = Instant.zero.advanced(by: .seconds(100))
        _ = bench.send("0A 03 00")
        let token = try #require(bench.token)
        #expect(bench.transaction.nextDeadline == Instant.zero.advanced(by: .seconds(125)))
        bench.now = Instant.zero.advanced(by: .milliseconds(124_999))
        #expect(bench.fire() == "")
        #expect(bench.outcome == .none)
        bench.now = Instant.zero.advanced(by: .seconds(125))
        #expect(bench.fire() == "01 0A 03 00 0E")
        #expect(bench.outcome == .requestExpired(token))
        #expect(bench.fire() == "")
        #expect(throws: GATTServerError.staleToken) { try bench.answer(token, "01") }
        #expect(bench.send("0A 09 00") == "0B CC", "the bearer lives on")
    }

    @Test("A Read Multiple Request fails with Invalid Handle if an attribute is removed before it is read")
    func aReadMultipleWhoseAttributeVanishesIsRefused() throws {
        var bench = try bench()
        _ = bench.send("0E 03 00 09 00")
        _ = try bench.server.database.removeService(at: 0x0001)
        #expect(try bench.answer(bench.token, "01") == "01 0E 09 00 01")
    }

    @Test("After an indication times out, the bearer sends nothing and drops requests")
    func onADeadBearerNothingIsSentAnyMore() throws {
        var bench = ServerBench(.example())
        _ = bench.send("12 09 00 03 00")
        _ = try bench.indicate(0x0008, "01")
        _ = bench.send("0A 14 00")
        let token = bench.token
        bench.now = Instant.zero.advanced(by: .seconds(30))
        #expect(bench.bearer.fire(at: bench.now) == .indication)
        #expect(throws: GATTServerError.bearerClosed) { try bench.answer(token, "01") }
        #expect(throws: GATTServerError.bearerClosed) { try bench.notify(0x0008, "01") }
        #expect(throws: GATTServerError.bearerClosed) { try bench.indicate(0x0008, "01") }
        #expect(bench.send("0A 03 00") == "")
        #expect(bench.outcome == .dropped(.bearerClosed))
        #expect(bench.fire() == "")
        #expect(bench.outcome == .requestExpired(try #require(token)))
        #expect(bench.transaction.nextDeadline == nil)
    }
}
