import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@Suite("H4 framing")
struct H4FramerTests {
    static let toHost = [
        "04 0E 04 01 03 0C 00", "02 40 20 05 00 01 00 04 00 0A", "04 10 00", "05 40 00 02 C0 AA BB", "03 40 00 01 CC",
        "02 40 20 00 00",
    ].map(bytes)
    static let toController = ["01 03 0C 00", "01 0A 20 01 01", "02 40 00 01 00 FF"].map(bytes)

    @Test("packets are delivered whole, however the stream is split", arguments: Array(1...40))
    func chunks(_ size: Int) throws {
        for (receiver, packets) in [(H4Framer.Receiver.host, Self.toHost), (.controller, Self.toController)] {
            var framer = H4Framer(receiver: receiver)
            #expect(try deliver(Array(packets.joined()), in: size, to: &framer) == packets)
        }
    }

    @Test("H1: an invalid indicator is a permanent fault", arguments: [0x00, 0x01, 0x06, 0xFF] as [UInt8])
    func badIndicator(_ indicator: UInt8) throws {
        var framer = H4Framer(receiver: .host)
        var packets: [[UInt8]] = []
        let packet = Self.toHost[0]
        let stream = packet + [indicator] + packet
        #expect(throws: H4Fault.unexpectedIndicator(indicator)) {
            try framer.receive(stream.span) { packets.append(Array($0)) }
        }
        #expect(packets == [packet])
        #expect(framer.fault == .unexpectedIndicator(indicator))
        #expect(throws: H4Fault.unexpectedIndicator(indicator)) {
            try framer.receive(packet.span) { packets.append(Array($0)) }
        }
        #expect(packets.count == 1)
        framer.reset()
        #expect(try deliver(Self.toHost[0], in: 3, to: &framer) == [Self.toHost[0]])
    }

    @Test("H1: a controller rejects events")
    func eventToController() {
        var framer = H4Framer(receiver: .controller)
        let event = Self.toHost[0]
        #expect(throws: H4Fault.unexpectedIndicator(4)) { try framer.receive(event.span) { _ in } }
    }

    @Test("H1: an incomplete packet waits for exactly the bytes it claims")
    func shortPacket() throws {
        var framer = H4Framer(receiver: .host)
        #expect(try deliver(bytes("02 40 20 FF FF 01 02"), in: 7, to: &framer) == [])
        let rest = [UInt8](repeating: 0xAB, count: 65533)
        let packets = try deliver(rest + Self.toHost[0], in: 1000, to: &framer)
        #expect(packets.map(\.count) == [65540, 7])
        #expect(packets.last == Self.toHost[0])
    }

    @Test("a reset discards a partial packet")
    func resetPartial() throws {
        var framer = H4Framer(receiver: .host)
        #expect(try deliver(bytes("04 0E 04 01"), in: 4, to: &framer) == [])
        framer.reset()
        #expect(try deliver(Self.toHost[2], in: 1, to: &framer) == [Self.toHost[2]])
    }

    @Test(
        "a packet decodes by its indicator",
        arguments: [
            ("01 03 0C 00", "command"), ("02 40 20 00 00", "ACL"), ("03 40 00 01 CC", "synchronous"),
            ("04 10 01 42", "event"), ("05 40 00 00 00", "ISO"),
        ])
    func packet(_ text: String, _ kind: String) throws {
        let raw = bytes(text)
        switch try HCIPacket(decoding: raw.span) {
        case .command(let packet): #expect((kind, packet.opcode) == ("command", .reset))
        case .aclData(let packet): #expect((kind, packet.connectionHandle) == ("ACL", 0x0040))
        case .synchronousData(let data): #expect((kind, data.count) == ("synchronous", 4))
        case .event(.hardwareError(let event)): #expect((kind, event.hardwareCode) == ("event", 0x42))
        case .event: Issue.record("another event")
        case .isoData(let data): #expect((kind, data.count) == ("ISO", 4))
        }
    }

    @Test(
        "a packet of an unknown kind throws",
        arguments: [("06 00", DecodingFailure(.unknownCode(6), at: 0)), ("", .init(.truncated(missing: 1), at: 0))])
    func noPacket(_ text: String, _ failure: DecodingFailure) {
        let raw = bytes(text)
        #expect(throws: failure) { _ = try HCIPacket(decoding: raw.span) }
    }

    private func deliver(_ stream: [UInt8], in size: Int, to framer: inout H4Framer) throws -> [[UInt8]] {
        var packets: [[UInt8]] = []
        for start in stride(from: 0, to: stream.count, by: size) {
            let chunk = stream[start..<min(start + size, stream.count)]
            try framer.receive(chunk.span) { packets.append(Array($0)) }
        }
        return packets
    }
}
