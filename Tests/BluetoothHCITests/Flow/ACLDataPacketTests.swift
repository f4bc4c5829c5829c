import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@Suite("ACL data packets")
struct ACLDataPacketTests {
    @Test(
        "packets are encoded and decoded",
        arguments: [
            ("02 40 00 02 00 AA BB", 0x0040, .firstNonFlushable, 0), ("02 40 10 01 00 AA", 0x0040, .continuing, 0),
            ("02 FF 2E 00 00", 0x0EFF, .firstFlushable, 0), ("02 01 70 01 00 CC", 0x0001, .complete, 1),
        ] as [(String, UInt16, ACLDataPacket.Boundary, UInt8)])
    func roundTrip(_ text: String, _ handle: UInt16, _ boundary: ACLDataPacket.Boundary, _ broadcast: UInt8) throws {
        let raw = bytes(text)
        let packet = try ACLDataPacket(decoding: raw.span.extracting(droppingFirst: 1))
        #expect(packet.connectionHandle == ConnectionHandle(handle))
        #expect(packet.boundary == boundary)
        #expect(packet.broadcast == broadcast)
        #expect(Array(packet.data) == Array(raw.dropFirst(5)))
        #expect(written { packet.encodePacket(into: &$0) } == raw)
    }

    @Test(
        "H8: a wrong length field throws",
        arguments: ["", "40", "40 20 02", "40 20 02 00 AA", "40 20 00 00 AA", "40 20 FF FF AA"])
    func badLength(_ text: String) {
        #expect(throws: DecodingFailure.self) { _ = try ACLDataPacket(decoding: bytes(text).span) }
    }
}
