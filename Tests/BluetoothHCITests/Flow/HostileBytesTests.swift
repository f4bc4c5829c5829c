import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@Suite("H1: random bytes")
struct HostileBytesTests {
    @Test("a corrupted packet throws, or decodes to a value that round-trips", arguments: 0..<50 as Range<UInt64>)
    func spoilt(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for sample in EventSamples.all.map(\.packet) + CommandSamples.all.map(\.packet) {
            var packet = sample
            for _ in 0..<random.next(below: 4) {
                packet[random.next(below: packet.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            guard let once = reencoded(packet) else { continue }
            #expect(reencoded(once) == once, "\(packet.hexadecimal())")
        }
    }

    @Test("the delivered packets are a prefix of the stream", arguments: 0..<50 as Range<UInt64>)
    func stream(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var stream: [UInt8] = []
        for _ in 0..<20 {
            stream += H4FramerTests.toHost[random.next(below: H4FramerTests.toHost.count)]
            if random.next(below: 8) == 0 { stream.append(UInt8(truncatingIfNeeded: random.next())) }
        }
        var framer = H4Framer(receiver: .host)
        var delivered: [UInt8] = []
        var offset = 0
        while offset < stream.count, framer.fault == nil {
            let chunk = Array(stream[offset..<min(stream.count, offset + 1 + random.next(below: 9))])
            offset += chunk.count
            try? framer.receive(chunk.span) { delivered += Array($0) }
        }
        #expect(stream.starts(with: delivered))
        #expect(framer.fault != nil || offset == stream.count)
    }

    private func reencoded(_ packet: [UInt8]) -> [UInt8]? {
        guard let decoded = try? HCIPacket(decoding: packet.span) else { return nil }
        switch decoded {
        case .event(let event): return written { event.encodePacket(into: &$0) }
        case .command(let command):
            guard let known = try? command.decodeKnown() else { return nil }
            return written { known.encodePacket(into: &$0) }
        case .aclData(let data): return written { data.encodePacket(into: &$0) }
        case .synchronousData, .isoData: return nil
        }
    }
}

extension SeededGenerator {
    fileprivate mutating func next(below bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
