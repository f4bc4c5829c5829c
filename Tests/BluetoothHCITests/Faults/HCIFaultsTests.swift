import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

/// What each fault does to the packets between a host and its controller.
struct HCIFaultsTests {
    /// Packets that pass faults, and what comes of them.
    struct Way {
        var faults: HCIFaults
        var now = Instant(nanoseconds: 1_000_000_000)
        var toHost: [String] = []
        var toController: [String] = []

        init(seed: UInt64 = 1, _ set: (inout HCIFaultRates) -> Void) {
            var rates = HCIFaultRates.none
            set(&rates)
            faults = HCIFaults(rates, seed: seed)
        }

        @discardableResult
        mutating func send(_ packet: String, to receiver: H4Framer.Receiver = .host) -> HCIFaults.Outcome {
            let outcome = faults.receive(bytes(packet).span, to: receiver, at: now)
            if outcome == .passed {
                if receiver == .host { toHost.append(packet) } else { toController.append(packet) }
            }
            collect()
            return outcome
        }

        /// Sends packets that nothing happens to.
        mutating func sendPlain(_ packets: String...) {
            let rates = faults.rates
            faults.rates = .none
            for packet in packets { send(packet) }
            faults.rates = rates
        }

        mutating func wait(_ duration: Duration) {
            now = now.advanced(by: duration)
            faults.fire(at: now)
            collect()
        }

        private mutating func collect() {
            while let packet = faults.toHost.popFirst() { toHost.append(Self.text(packet)) }
            while let packet = faults.toController.popFirst() { toController.append(Self.text(packet)) }
        }

        private static func text(_ packet: [UInt8]) -> String { packet.hexadecimal(separator: "").lowercased() }
    }

    static let answer = "040e0401030c00", status = "040f0400010604"
    static let completion = "041305014000" + "0100", other = "043e03010203"
    static let data = "0240200300aabbcc", command = "01030c00"

    @Test("Without faults every packet passes unchanged and at once")
    func none() {
        var way = Way { _ in }
        let all = [Self.answer, Self.completion, Self.other, Self.data, "", "04", "09ff", "0401"]
        for packet in all { #expect(way.send(packet) == .passed) }
        #expect(way.toHost == all)
        #expect(way.faults.nextDeadline == nil)
    }

    @Test("An answer or a completion is lost")
    func loss() {
        let losses = [
            (Self.answer, \HCIFaultRates.unansweredCommands), (Self.status, \.unansweredCommands),
            (Self.completion, \.lostCompletions),
        ]
        for (packet, rate) in losses {
            var way = Way { $0[keyPath: rate] = 1 }
            way.send(packet)
            way.send(Self.other)
            way.send(Self.data)
            way.wait(.seconds(100))
            #expect(way.toHost == [Self.other, Self.data])
        }
    }

    @Test("A packet is delivered twice, followed by the next one")
    func double() {
        let doubles = [
            (Self.answer, \HCIFaultRates.doubledAnswers), (Self.other, \.doubledEvents), (Self.data, \.doubledData),
        ]
        for (packet, rate) in doubles {
            var way = Way { $0[keyPath: rate] = 1 }
            way.send(packet)
            way.sendPlain(Self.completion)
            #expect(way.toHost == [packet, packet, Self.completion])
        }
    }

    @Test("A late answer is overtaken by the packets behind it")
    func lateAnswer() {
        var way = Way {
            $0.lateAnswers = 1
            $0.answerDelay = .milliseconds(30)...(.milliseconds(30))
        }
        let fault = HCIFault(
            kind: .lateAnswer, packet: .answer(.reset), receiver: .host, duration: .milliseconds(30))
        #expect(way.send(Self.answer) == .taken(fault))
        way.send(Self.other)
        #expect(way.toHost == [Self.other])
        #expect(way.faults.nextDeadline == way.now.advanced(by: .milliseconds(30)))
        way.wait(.milliseconds(29))
        #expect(way.toHost == [Self.other])
        way.wait(.milliseconds(1))
        #expect(way.toHost == [Self.other, Self.answer])
        #expect(way.faults.nextDeadline == nil)
    }

    @Test(
        "Credits are withheld, and returned later by an event that answers no command",
        arguments: [(answer, "040e0400030c00"), (status, "040f0400000604")])
    func credits(_ packet: String, _ changed: String) {
        var way = Way {
            $0.withheldCredits = 1
            $0.creditDelay = .seconds(1)...(.seconds(1))
        }
        way.send(packet)
        #expect(way.toHost == [changed])
        way.wait(.seconds(1))
        #expect(way.toHost == [changed, "040e03010000"])
    }

    @Test("Completed packets are overcounted by one to three")
    func excess() {
        var way = Way { $0.excessCompletions = 1 }
        for _ in 0..<30 { way.send(Self.completion) }
        #expect(Set(way.toHost) == ["0413050140000200", "0413050140000300", "0413050140000400"])
    }

    @Test(
        "The header of a shortened or lengthened packet matches its length",
        arguments: [answer, completion, other, data])
    func lengths(_ packet: String) throws {
        let full = bytes(packet).count
        for (rate, isLonger) in [(\HCIFaultRates.cut, false), (\.lengthened, true)] {
            var way = Way { $0[keyPath: rate] = 1 }
            for _ in 0..<50 { way.send(packet) }
            #expect(way.toHost.count == 50 && Set(way.toHost).count > 2)
            var framer = H4Framer(receiver: .host), lengths: [Int] = []
            try framer.receive(bytes(way.toHost.joined()).span) { lengths.append($0.count) }
            #expect(lengths.count == 50)
            #expect(lengths.allSatisfy { isLonger ? (full + 1...full + 8).contains($0) : $0 < full })
        }
    }

    @Test("A packet of maximum length is not lengthened")
    func longest() {
        var way = Way { $0.lengthened = 1 }
        let packet = "01030cff" + String(repeating: "ab", count: 255)
        way.send(packet, to: .controller)
        #expect(way.toController == [packet])
    }

    @Test("A torn packet is shorter than its header says")
    func torn() {
        var way = Way { $0.torn = 1 }
        for _ in 0..<50 { way.send(Self.data) }
        #expect(way.toHost.allSatisfy { !$0.isEmpty && $0.count < Self.data.count && Self.data.hasPrefix($0) })
        #expect(Set(way.toHost).count > 3)
    }

    @Test("A delay holds up one direction, and keeps its order")
    func delay() {
        var way = Way {
            $0.delays = 1
            $0.delay = .milliseconds(5)...(.milliseconds(5))
        }
        way.send(Self.command, to: .controller)
        way.sendPlain(Self.other)
        #expect(way.toController.isEmpty && way.toHost == [Self.other])
        way.wait(.milliseconds(5))
        #expect(way.toController == [Self.command])
        way.send(Self.other)
        way.wait(.milliseconds(4))
        way.sendPlain(Self.data, Self.answer)
        #expect(way.toHost == [Self.other])
        way.wait(.milliseconds(1))
        #expect(way.toHost == [Self.other, Self.other, Self.data, Self.answer])
    }

    @Test("Data overtakes events, or events data, and each keeps its own order")
    func overtaking() {
        for (first, second) in [(Self.other, Self.data), (Self.data, Self.other)] {
            var way = Way {
                $0.overtakings = 1
                $0.overtakingDelay = .milliseconds(5)...(.milliseconds(5))
            }
            way.send(first)
            way.sendPlain(second, first, second)
            #expect(way.toHost == [second, second])
            way.wait(.milliseconds(5))
            #expect(way.toHost == [second, second, first, first])
        }
    }

    @Test("During a silence nothing reaches the host; afterwards everything does, in order")
    func silence() {
        var way = Way {
            $0.silences = 1
            $0.silence = .seconds(2)...(.seconds(2))
        }
        way.send(Self.other)
        way.sendPlain(Self.data, Self.completion)
        #expect(way.send(Self.command, to: .controller) == .passed)
        #expect(way.toHost.isEmpty)
        way.wait(.seconds(2))
        #expect(way.toHost == [Self.other, Self.data, Self.completion])
    }

    @Test("A Hardware Error follows a packet")
    func hardwareError() {
        var way = Way { $0.hardwareErrors = 1 }
        way.send(Self.other)
        #expect(way.toHost.count == 2 && way.toHost[0] == Self.other && way.toHost[1].hasPrefix("041001"))
        #expect(way.toController.isEmpty)
    }

    @Test("After a spontaneous reset, only the answer to the injected Reset is withheld")
    func reset() {
        var way = Way { $0.resets = 1 }
        way.send(Self.other)
        #expect(way.toController == ["01030c00"])
        #expect(way.toHost.count == 2 && way.toHost[1].hasPrefix("041001"))
        way.sendPlain(Self.status, Self.answer, Self.answer)
        #expect(way.toHost.dropFirst(2) == [Self.status, Self.answer])
    }

    @Test("Every packet is delayed by the configured latency, in order")
    func latency() {
        var way = Way { $0.latency = .milliseconds(10) }
        way.send(Self.other)
        way.wait(.milliseconds(4))
        way.send(Self.data)
        way.wait(.milliseconds(6))
        #expect(way.toHost == [Self.other])
        way.wait(.milliseconds(4))
        #expect(way.toHost == [Self.other, Self.data])
    }

    @Test("When the faults end, held packets are still delivered, and discarded ones are not")
    func end() {
        var way = Way {
            $0.silences = 1
            $0.silence = .seconds(2)...(.seconds(2))
        }
        way.send(Self.other)
        way.faults.rates = .none
        way.wait(.seconds(2))
        #expect(way.toHost == [Self.other])
        way.faults.rates.silences = 1
        way.send(Self.other)
        way.faults.removeAll()
        way.faults.rates = .none
        #expect(way.faults.nextDeadline == nil)
        #expect(way.send(Self.data) == .passed)
    }
}
