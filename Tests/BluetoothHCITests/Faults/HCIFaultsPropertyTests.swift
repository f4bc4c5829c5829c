import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

/// What holds for faults whatever is drawn.
struct HCIFaultsPropertyTests {
    static let packets = [
        "040e0401030c00", "040f0400010604", "041305014000" + "0100", "043e03010203", "0240200300aabbcc", "0303", "",
    ]

    /// Everything that comes of many packets, with the time and the receiver.
    private static func played(seed: UInt64, count: Int = 5000) -> [String] {
        var faults = HCIFaults(.badWeather, seed: seed)
        var now = Instant.zero, lines: [String] = []
        func note(_ packet: String, _ receiver: H4Framer.Receiver) {
            lines.append("\(now.nanoseconds) \(receiver) \(packet)")
        }
        for index in 0..<count {
            now = now.advanced(by: .milliseconds(1))
            faults.fire(at: now)
            let packet = packets[index % packets.count]
            let receiver: H4Framer.Receiver = index % 3 == 0 ? .controller : .host
            let outcome = faults.receive(bytes(packet).span, to: receiver, at: now)
            switch outcome {
            case .passed: note(packet, receiver)
            case .taken(let fault?): note(fault.description, receiver)
            case .taken(nil): break
            }
            while let packet = faults.toHost.popFirst() { note(packet.hexadecimal(), .host) }
            while let packet = faults.toController.popFirst() { note(packet.hexadecimal(), .controller) }
        }
        return lines
    }

    @Test("The same seed gives the same faults, and another seed gives others")
    func determinism() {
        let first = Self.played(seed: 5)
        #expect(first == Self.played(seed: 5))
        #expect(first != Self.played(seed: 6))
    }

    @Test("Faults for several transports differ from each other, and are reproducible")
    func several() {
        var first = HCIFaults(.badWeather, seed: 1), second = HCIFaults(.badWeather, seed: 1)
        for _ in 0..<3 {
            let others = [first.another(), first.another(), second.another(), second.another()]
            let drawn = others.map { faults in
                var faults = faults
                return (0..<2000).map { _ in faults.receive(bytes("040e0401030c00").span, to: .host, at: .zero) }
            }
            #expect(drawn[0] == drawn[2] && drawn[1] == drawn[3] && drawn[0] != drawn[1])
        }
    }

    @Test("Each fault occurs at about its configured rate")
    func rates() {
        var rates = HCIFaultRates.none
        rates.lateAnswers = 0.1
        rates.cut = 0.3
        var faults = HCIFaults(rates, seed: 3)
        var counts: [HCIFault.Kind: Int] = [:]
        for _ in 0..<10_000 {
            let outcome = faults.receive(bytes("040e0401030c00").span, to: .host, at: .zero)
            if case .taken(let fault?) = outcome { counts[fault.kind, default: 0] += 1 }
            faults.removeAll()
        }
        #expect(counts.keys.count == 2)
        #expect((900...1100).contains(counts[.lateAnswer] ?? 0) && (2800...3200).contains(counts[.cut] ?? 0))
    }

    @Test("Rates that add up to more than 1, or are infinite, negative or NaN, do no harm")
    func oddRates() {
        var rates = HCIFaultRates.none
        rates.unansweredCommands = 1
        rates.lateAnswers = .infinity
        rates.cut = .nan
        rates.torn = -1
        var faults = HCIFaults(rates, seed: 3)
        for _ in 0..<100 {
            let fault = HCIFault(kind: .unansweredCommand, packet: .answer(.reset), receiver: .host)
            #expect(faults.receive(bytes("040e0401030c00").span, to: .host, at: .zero) == .taken(fault))
        }
    }

    @Test("In bad weather the packet stream stays in sync", arguments: 1...5 as ClosedRange<UInt64>)
    func framing(seed: UInt64) throws {
        var faults = HCIFaults(.badWeather, seed: seed), framer = H4Framer(receiver: .host)
        var now = Instant.zero
        for index in 0..<20_000 {
            now = now.advanced(by: .milliseconds(1))
            let packet = bytes(Self.packets[index % 5])
            if faults.receive(packet.span, to: .host, at: now) == .passed { try framer.receive(packet.span) { _ in } }
            while let packet = faults.toHost.popFirst() { try framer.receive(packet.span) { _ in } }
            #expect(framer.partialByteCount == 0)
        }
    }

    @Test("The number of held packets and octets is bounded, and their order is kept")
    func bounds() {
        var rates = HCIFaultRates.none
        rates.latency = .seconds(1000)
        for (size, limit) in [(3, HCIFaults.maximumHeldPackets), (1 << 15, HCIFaults.maximumHeldOctets / (1 << 15))] {
            var faults = HCIFaults(rates, seed: 1)
            var next = 0
            for index in 0..<3 * limit {
                let packet = [2, UInt8(index & 0xFF), UInt8(index >> 8)] + [UInt8](repeating: 0, count: size - 3)
                #expect(faults.receive(packet.span, to: .host, at: .zero) == .taken(nil))
                while let packet = faults.toHost.popFirst() {
                    #expect(Int(packet[1]) | Int(packet[2]) << 8 == next)
                    next += 1
                }
            }
            let hasRoom = faults.hasRoom
            #expect(!hasRoom && next == 2 * limit)
        }
    }
}
