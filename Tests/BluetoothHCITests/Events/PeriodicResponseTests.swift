import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@Suite("Responses to periodic advertising")
struct PeriodicResponseTests {
    /// The responses of an event, how many it claims, the slots that can be read, and whether the rest is malformed.
    @Test(
        "Periodic advertising responses are read in order, up to the first malformed one",
        arguments: [
            ("", UInt8(0), [] as [UInt8], false),
            ("7F C4 FF 03 00 02 AA BB", 1, [3], false),
            ("7F C4 FF 03 00 02 AA BB 7F C4 FF 04 FF 00", 2, [3, 4], false),
            ("7F C4 FF 03 00 02 AA", 1, [], true), ("7F C4 FF 03 00 00", 2, [3], true), ("", 255, [], true),
        ])
    func responses(_ text: String, _ claimed: UInt8, _ slots: [UInt8], _ isMalformed: Bool) throws {
        let body = bytes("28 02 05 00") + [claimed] + bytes(text)
        let packet = [0x3E, UInt8(body.count)] + body
        guard case .lePeriodicAdvertisingResponseReports(var reports) = try HCIEvent(decoding: packet.span) else {
            Issue.record("another event")
            return
        }
        #expect(written { reports.encodePacket(into: &$0) } == [0x04] + packet)
        let handle = reports.advertisingHandle, subevent = reports.subevent
        #expect(handle == AdvertisingHandle(2) && subevent == 5)
        var read: [UInt8] = []
        while let response = reports.next() { read.append(response.slot) }
        let malformed = reports.isMalformed
        #expect(read == slots && malformed == isMalformed)
    }

    @Test("a truncated response report throws", arguments: 0..<4)
    func truncated(_ count: Int) {
        let body = bytes("28 02 05 00 00").prefix(count + 1)
        let packet = [0x3E, UInt8(body.count)] + body
        #expect(throws: DecodingFailure.self) { _ = try HCIEvent(decoding: packet.span) }
    }
}
