import BluetoothBase
import BluetoothL2CAP
import TestSupport
import Testing

@Suite("L2CAP signalling: properties that hold for any payload")
struct SignallingPropertyTests {
    /// Payloads made of plausible starts and arbitrary rests, the same in every run.
    static func payloads(_ count: Int) -> [[UInt8]] {
        var state: UInt64 = 0x2545_F491_4F6C_DD1D
        func random(below bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(truncatingIfNeeded: state >> 33) % bound
        }
        return (0..<count).map { _ in
            let data = (0..<random(below: 24)).map { _ in UInt8(random(below: 4) == 0 ? random(below: 256) : 0) }
            let length = random(below: 4) == 0 ? random(below: 256) : data.count
            let header = [UInt8(random(below: 0x20)), UInt8(random(below: 4)), UInt8(length), 0]
            return Array((header + data).prefix(random(below: 8) == 0 ? random(below: 8) : .max))
        }
    }

    @Test("a command is answered at most once, with its own identifier, and a response is never answered")
    func answers() throws {
        for role in LinkRole.allCases {
            var channel = SignallingChannel(role: role)
            var answered = 0
            for payload in Self.payloads(20_000) {
                var writer = ByteWriter()
                let outcome = channel.receive(payload.span, into: &writer)
                guard !writer.bytes.isEmpty else {
                    #expect(outcome == .ignored)
                    continue
                }
                answered += 1
                let answer = try SignallingCommand(decoding: writer.bytes.span)
                // A request about channels may have been refused with its own response.
                #expect(outcome != .ignored || [0x14, 0x17, 0x19].contains(payload[0]))
                #expect(answer.identifier == payload[1] && answer.identifier != 0)
                #expect(SignallingCode(rawValue: answer.code)?.isResponse == true)
                #expect(SignallingCode(rawValue: payload[0])?.isResponse != true)
                #expect(writer.count <= Int(SignallingChannel.mtu))
            }
            #expect(answered > 1000)
        }
    }

    @Test("our request ends exactly once, whatever arrives in the meantime")
    func oneEnd() throws {
        let parameters = ConnectionParameters(intervalMin: 24, intervalMax: 40, latency: 0, timeout: 500)
        var channel = SignallingChannel(role: .peripheral)
        var writer = ByteWriter()
        var now = Instant.zero
        var ends = 0, requests = 0
        for payload in Self.payloads(20_000) {
            now = now.advanced(by: .milliseconds(10))
            if channel.nextDeadline == nil {
                try channel.requestConnectionParameterUpdate(parameters, at: now, into: &writer)
                requests += 1
            }
            for outcome in [channel.receive(payload.span, into: &writer), channel.fire(at: now)] {
                if case .connectionParameterUpdateEnded = outcome { ends += 1 }
            }
            writer.removeAll()
        }
        #expect(ends == requests - (channel.nextDeadline == nil ? 0 : 1))
        #expect(requests > 5)
    }
}
