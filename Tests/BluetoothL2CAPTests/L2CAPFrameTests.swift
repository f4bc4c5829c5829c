import BluetoothBase
import BluetoothL2CAP
import TestSupport
import Testing

@Suite("L2CAP frames")
struct L2CAPFrameTests {
    @Test(
        "a frame is decoded and encoded back",
        arguments: [
            ("03 00 04 00 0A 03 00", 0x0004, "0A 03 00"), ("02 00 06 00 0B 01", 0x0006, "0B 01"),
            // L4: a frame without payload is valid; its channel decides what to do with it.
            ("00 00 04 00", 0x0004, ""), ("00 00 05 00", 0x0005, ""), ("00 00 06 00", 0x0006, ""),
            // L5: so is one for an unknown channel.
            ("01 00 3F 00 FF", 0x003F, "FF"), ("01 00 41 00 FF", 0x0041, "FF"),
        ] as [(String, UInt16, String)])
    func roundTrip(_ text: String, _ channel: UInt16, _ payload: String) throws {
        let packet = bytes(text)
        let frame = try L2CAPFrame(decoding: packet.span)
        #expect(frame.channel.rawValue == channel)
        #expect(Array(frame.payload) == bytes(payload))
        var writer = ByteWriter()
        frame.encode(into: &writer)
        #expect(writer.bytes == packet)
        guard let whole = L2CAPFrame(whole: packet.span) else {
            Issue.record("the faster initializer rejects it")
            return
        }
        #expect(whole.channel.rawValue == channel)
        #expect(Array(whole.payload) == bytes(payload))
    }

    @Test(
        "a frame whose length differs from its header is rejected",
        arguments: [
            ("", .truncated(missing: 2), 0), ("01", .truncated(missing: 1), 1), ("01 00 04", .truncated(missing: 1), 3),
            // L1: one byte announced and three sent, then 32 announced and one sent.
            ("01 00 04 00 0A 03 00", .trailingBytes(count: 2), 5), ("20 00 04 00 0A", .truncated(missing: 31), 5),
            // L3: 65535 bytes announced.
            ("FF FF 04 00 0A", .truncated(missing: 65534), 5),
        ] as [(String, DecodingFailure.Reason, Int)])
    func malformed(_ text: String, _ reason: DecodingFailure.Reason, _ offset: Int) {
        let packet = bytes(text)
        #expect(throws: DecodingFailure(reason, at: offset)) { _ = try L2CAPFrame(decoding: packet.span) }
    }

    @Test(
        "L2: the total length is known after the first two bytes",
        arguments: [
            ("", nil), ("03", nil), ("03 00", 7), ("03 00 04", 7), ("FF FF 04 00 0A", 65539), ("00 00 04 00", 4),
        ] as [(String, Int?)])
    func totalLength(_ start: String, _ length: Int?) {
        #expect(L2CAPFrame.totalLength(ofPDUStartingWith: bytes(start).span) == length)
    }

    @Test(
        "L2: the header is known after the first four bytes",
        arguments: [("", nil), ("03 00 04", nil), ("03 00 04 00", 3), ("FF FF 04 00 0A", 65535)]
            as [(String, Int?)])
    func header(_ start: String, _ length: Int?) {
        let header = L2CAPFrame.header(ofPDUStartingWith: bytes(start).span)
        #expect(header?.length == length)
        #expect(header?.channel == length.map { _ in .attributeProtocol })
    }

    @Test("a frame is written in place after other bytes")
    func writingInPlace() {
        var writer = ByteWriter()
        writer.append(UInt8(0xEE))
        let start = L2CAPFrame.open(.attributeProtocol, in: &writer)
        writer.append(bytes("1B 03 00 AA"))
        L2CAPFrame.close(start, in: &writer)
        #expect(writer.bytes == bytes("EE 04 00 04 00 1B 03 00 AA"))
    }

    @Test("the dynamic range is 0x0040 to 0x007F")
    func dynamicRange() {
        let dynamic = (0...UInt16.max).filter { ChannelIdentifier($0).isLEDynamic }
        #expect(dynamic == Array(0x0040...0x007F))
        #expect(ChannelIdentifier.securityManager.description == "0x0006")
    }
}
