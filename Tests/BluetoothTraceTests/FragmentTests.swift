import BluetoothBase
import BluetoothTrace
import TestSupport
import Testing

@Suite("Trace: fragments")
struct FragmentTests {
    /// The lines of one tracer for several packets, without the times.
    func trace(_ packets: [(PacketTracer.Direction, String)]) -> [String] {
        var tracer = PacketTracer()
        return packets.map { direction, packet in
            String(tracer.line(for: bytes(packet).span, direction: direction, at: .zero).dropFirst("0.000000 ".count))
        }
    }

    @Test("a PDU in fragments is shown with the last of them")
    func reassembly() {
        let lines = trace([
            (.hostToController, "02 40 00 05 00 05 00 04 00 12"), (.hostToController, "02 40 10 02 00 12 00"),
            (.hostToController, "02 40 10 02 00 01 02"),
        ])
        #expect(
            lines == [
                "> ACL 0x0040 start, 5 of 9 bytes", "> ACL 0x0040 continuation, 7 of 9 bytes",
                "> ACL 0x0040 ATT_WRITE_REQ handle 0x0012 value 01 02",
            ])
    }

    @Test("L2: even the header may be fragmented, into fragments of one byte or none")
    func splitHeader() {
        let lines = trace([
            (.controllerToHost, "02 40 20 01 00 01"), (.controllerToHost, "02 40 10 00 00"),
            (.controllerToHost, "02 40 10 01 00 00"), (.controllerToHost, "02 40 10 01 00 04"),
            (.controllerToHost, "02 40 10 02 00 00 0B"),
        ])
        #expect(
            lines == [
                "< ACL 0x0040 start, 1 of ? bytes", "< ACL 0x0040 continuation, 1 of ? bytes",
                "< ACL 0x0040 continuation, 2 of 5 bytes", "< ACL 0x0040 continuation, 3 of 5 bytes",
                "< ACL 0x0040 ATT_READ_RSP value empty",
            ])
    }

    @Test("links and directions are kept apart")
    func apart() {
        let lines = trace([
            (.hostToController, "02 40 00 04 00 01 00 04 00"), (.hostToController, "02 41 00 04 00 01 00 04 00"),
            (.controllerToHost, "02 40 20 04 00 01 00 04 00"), (.controllerToHost, "02 40 10 01 00 13"),
            (.hostToController, "02 41 10 01 00 0B"), (.hostToController, "02 40 10 01 00 1E"),
        ])
        #expect(
            lines.suffix(3) == [
                "< ACL 0x0040 ATT_WRITE_RSP", "> ACL 0x0041 ATT_READ_RSP value empty",
                "> ACL 0x0040 ATT_HANDLE_VALUE_CFM",
            ])
    }

    @Test(
        "H8: fragments out of order, and packets with a wrong length, are malformed",
        arguments: [
            (["02 40 10 01 00 0B"], "0x0040 malformed, continuation without a start: 0B"),
            (
                ["02 40 00 05 00 05 00 04 00 12", "02 40 00 05 00 01 00 04 00 0B"],
                "0x0040 (unfinished: 5 of 9 bytes) ATT_READ_RSP value empty"
            ),
            (
                ["02 40 00 04 00 01 00 04 00", "02 40 10 02 00 0B 0C"],
                "0x0040 malformed, continuation beyond the end, 6 of 5 bytes: 0B 0C"
            ),
            (
                ["02 40 00 04 00 01 00 04 00", "02 40 10 02 00 0B 0C", "02 40 10 01 00 0B"],
                "0x0040 malformed, continuation without a start: 0B"
            ),
            // L1: more bytes than the basic header announces.
            (
                ["02 40 00 07 00 01 00 04 00 0A 03 00"],
                "0x0040 malformed, 2 unexpected bytes from byte 5: 01 00 04 00 0A 03 00"
            ),
            (["02 40 00 00 00"], "0x0040 start, 0 of ? bytes"),
            (["02 40 00 05 00 0B"], "malformed, invalid length at byte 2: 40 00 05 00 0B"),
            (["02 40 00 00 00 0B"], "malformed, invalid length at byte 2: 40 00 00 00 0B"),
            (["02 40"], "malformed, truncated at byte 1: 1 more needed: 40"),
            (["02"], "malformed, truncated at byte 0: 2 more needed"),
        ])
    func malformed(_ packets: [String], _ text: String) {
        #expect(trace(packets.map { (.hostToController, $0) }).last == "> ACL " + text)
    }

    @Test("a disconnection discards the fragments of the link")
    func disconnection() {
        let lines = trace([
            (.hostToController, "02 40 00 04 00 01 00 04 00"), (.hostToController, "02 41 00 04 00 01 00 04 00"),
            // One that fails changes nothing.
            (.controllerToHost, "04 05 04 0C 41 00 13"), (.controllerToHost, "04 05 04 00 40 00 13"),
            (.hostToController, "02 40 10 01 00 0B"), (.hostToController, "02 41 10 01 00 0B"),
        ])
        #expect(
            lines.suffix(2) == [
                "> ACL 0x0040 malformed, continuation without a start: 0B", "> ACL 0x0041 ATT_READ_RSP value empty",
            ])
    }

    @Test("a new link replaces the oldest one if there are too many")
    func bounded() {
        let starts = (0...PacketTracer.maximumLinks).map { "02 \(hexadecimal(UInt8($0))) 00 04 00 01 00 04 00" }
        let lines = trace(
            (starts + ["02 01 10 01 00 0B", "02 00 10 01 00 0B"]).map { (.hostToController, $0) })
        #expect(
            lines.suffix(2) == [
                "> ACL 0x0001 ATT_READ_RSP value empty", "> ACL 0x0000 malformed, continuation without a start: 0B",
            ])
    }

    @Test("L3: the longest possible PDU is reassembled, and nothing beyond it is kept")
    func longest() {
        let continuation = "02 40 10 FF 00 " + [UInt8](repeating: 0xAA, count: 255).hexadecimal()
        let start = "02 40 00 04 00 FF FF 04 00"
        // 65535 is 257 fragments of 255 bytes.
        let lines = trace(([start] + Array(repeating: continuation, count: 258)).map { (.hostToController, $0) })
        #expect(lines[256] == "> ACL 0x0040 continuation, 65284 of 65539 bytes")
        #expect(lines[257].hasPrefix("> ACL 0x0040 ATT opcode 0xAA AA AA"))
        #expect(lines[258].hasPrefix("> ACL 0x0040 malformed, continuation without a start: AA"))
    }
}
