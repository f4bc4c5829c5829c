import BluetoothBase
import BluetoothTrace
import TestSupport
import Testing

@Suite("Trace: properties that hold for any packet")
struct TracePropertyTests {
    static let samples: [[UInt8]] = [
        "01 0B 20 07 01 10 00 08 00 01 00", "04 05 04 00 40 00 08",
        "04 3E 13 01 00 40 00 00 01 55 44 33 22 11 C0 18 00 04 00 F4 01 05",
        "04 3E 1D 0D 01 10 00 01 55 44 33 22 11 C0 01 00 FF 7F C4 00 00 00 00 00 00 00 00 00 03 02 01 06",
        "04 0E 0A 01 09 10 00 55 44 33 22 11 00", "04 13 09 02 40 00 02 00 41 00 01 00",
        "02 40 00 09 00 05 00 04 00 12 12 00 01 00", "02 40 00 0C 00 08 00 05 00 06 07 04 00 40 00 51 00",
        "02 40 00 0B 00 07 00 06 00 01 03 00 0D 10 07 00", "02 40 20 06 00 01 00 04 00 1B 00",
        "02 40 10 04 00 12 00 01 02", "02 40 10 01 00 0B",
    ].map(bytes)

    @Test("every packet gets one line, however its bytes are changed or truncated")
    func oneLine() {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        func random(below bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(truncatingIfNeeded: state >> 33) % bound
        }
        var tracer = PacketTracer()
        for round in 0..<5_000 {
            var packet = Self.samples[round % Self.samples.count]
            for _ in 0..<random(below: 4) { packet[random(below: packet.count)] = UInt8(random(below: 256)) }
            if random(below: 3) == 0 { packet.removeLast(random(below: packet.count)) }
            let direction: PacketTracer.Direction = random(below: 2) == 0 ? .hostToController : .controllerToHost
            let line = tracer.line(for: packet.span, direction: direction, at: .zero)
            #expect(line.utf8.count > "0.000000 > ".utf8.count, "\(packet.hexadecimal())")
            #expect(!line.utf8.contains(UInt8(ascii: "\n")), "\(packet.hexadecimal())")
        }
    }
}
