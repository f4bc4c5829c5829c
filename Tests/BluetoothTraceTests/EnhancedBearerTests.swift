import BluetoothBase
import BluetoothTrace
import TestSupport
import Testing

@Suite("Trace: enhanced ATT bearers")
struct EnhancedBearerTests {
    /// The host opens two bearers, of which it gets one: 0x0040 on its side, 0x0050 on the peer's.
    private static let opening: [(PacketTracer.Direction, [UInt8])] = [
        (.hostToController, bytes("17 01 0C00 2700 0002 4000 0500 4000 4100")),
        (.controllerToHost, bytes("18 01 0C00 0002 4000 0500 0400 5000 0000")),
    ]

    /// The text of the last of some frames, after the bearer is open.
    private func last(_ frames: (PacketTracer.Direction, [UInt8], on: UInt8)...) -> String {
        var tracer = PacketTracer()
        var text = ""
        for (direction, payload, channel) in Self.opening.map({ ($0.0, $0.1, 0x05) }) + frames {
            let frame = [UInt8(payload.count), 0, channel, 0] + payload
            let packet = [0x02, 0x40, 0x00, UInt8(frame.count), 0] + frame
            text = String(
                tracer.line(for: packet.span, direction: direction, at: .zero).dropFirst("0.000000 > ACL 0x0040 ".count)
            )
        }
        return text
    }

    @Test("a PDU on an enhanced bearer is shown like one on the fixed channel, in both directions")
    func pdu() {
        #expect(last((.hostToController, bytes("0300 0A 0300"), on: 0x50)) == "EATT 0x0050 ATT_READ_REQ handle 0x0003")
        #expect(last((.controllerToHost, bytes("0200 0B AA"), on: 0x40)) == "EATT 0x0040 ATT_READ_RSP value AA")
    }

    @Test("a PDU in several K-frames is shown with the last of them")
    func parts() {
        let first = (PacketTracer.Direction.controllerToHost, bytes("0300 0B AA"), on: UInt8(0x40))
        #expect(last(first) == "EATT 0x0040 2 of 3 bytes")
        #expect(last(first, (.controllerToHost, bytes("BB"), on: 0x40)) == "EATT 0x0040 ATT_READ_RSP value AA BB")
        #expect(
            last(first, (.controllerToHost, bytes("BBCC"), on: 0x40))
                == "EATT 0x0040 malformed, invalid length at byte 0: BB CC")
    }

    @Test("frames on other channels, or on refused or closed bearers, are not shown as ATT")
    func others() {
        #expect(last((.hostToController, bytes("0300 0A 0300"), on: 0x40)) == "L2CAP channel 0x0040 03 00 0A 03 00")
        #expect(last((.controllerToHost, bytes("0300 0A 0300"), on: 0x41)) == "L2CAP channel 0x0041 03 00 0A 03 00")
        #expect(
            last(
                (.controllerToHost, bytes("06 02 0400 4000 5000"), on: 0x05),
                (.hostToController, bytes("0300 0A 0300"), on: 0x50))
                == "L2CAP channel 0x0050 03 00 0A 03 00")
    }
}
