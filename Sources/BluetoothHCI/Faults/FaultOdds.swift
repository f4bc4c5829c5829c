import BluetoothBase

/// The rates of faults by the kind of packet they apply to, prepared so that most packets need only one comparison.
struct FaultOdds: Sendable {
    /// The kinds of packets, which are subject to different faults.
    enum Concern: Int, CaseIterable {
        case command, dataToController, answer, completion, event, dataToHost, other
    }

    private struct Share {
        /// The sum of the probabilities up to this fault, in parts of 2 to the power of 64.
        var end: UInt64
        var kind: HCIFault.Kind
    }

    /// The shares of each concern, in order of `rawValue`.
    private var shares: [[Share]]
    /// Whether no fault can happen.
    let areNone: Bool

    init(_ rates: HCIFaultRates) {
        shares = Concern.allCases.map { concern in
            var sum = 0.0
            return Self.rates(rates, for: concern).compactMap { kind, rate in
                guard rate > 0 else { return nil }
                sum += rate
                return Share(end: sum >= 1 ? .max : UInt64(sum * 0x1p64), kind: kind)
            }
        }
        areNone = shares.allSatisfy(\.isEmpty)
    }

    /// Draws the fault for a packet. Usually that is none, which takes one random number.
    @inline(__always)
    func draw(for concern: Concern, from generator: inout SeededGenerator) -> HCIFault.Kind? {
        guard let last = shares[concern.rawValue].last else { return nil }
        let number = generator.next()
        guard number < last.end else { return nil }
        return shares[concern.rawValue].first { number < $0.end }?.kind
    }

    private static func rates(_ rates: HCIFaultRates, for concern: Concern) -> [(HCIFault.Kind, Double)] {
        let shape: [(HCIFault.Kind, Double)] = [
            (.cut, rates.cut), (.lengthened, rates.lengthened), (.torn, rates.torn), (.delay, rates.delays),
        ]
        let controller: [(HCIFault.Kind, Double)] = [
            (.overtaking, rates.overtakings), (.silence, rates.silences), (.hardwareError, rates.hardwareErrors),
            (.reset, rates.resets),
        ]
        return switch concern {
        case .command: shape
        case .dataToController: [(.doubled, rates.doubledData)] + shape
        case .answer:
            [
                (.unansweredCommand, rates.unansweredCommands), (.lateAnswer, rates.lateAnswers),
                (.doubledAnswer, rates.doubledAnswers), (.withheldCredits, rates.withheldCredits),
            ] + shape + controller
        case .completion:
            [
                (.lateCompletion, rates.lateCompletions), (.lostCompletion, rates.lostCompletions),
                (.excessCompletion, rates.excessCompletions),
            ] + shape + controller
        case .event: [(.doubled, rates.doubledEvents)] + shape + controller
        case .dataToHost: [(.doubled, rates.doubledData)] + shape + controller
        case .other: []
        }
    }
}

extension FaultOdds.Concern {
    /// Determines which faults apply to a packet.
    init(_ packet: Span<UInt8>, to receiver: H4Framer.Receiver) {
        guard packet.count > 1, let type = HCIPacketType(rawValue: packet[0]) else {
            self = .other
            return
        }
        self =
            switch (type, receiver) {
            case (.command, .controller): .command
            case (.aclData, .controller): .dataToController
            case (.aclData, .host): .dataToHost
            case (.event, .host):
                switch HCIEventCode(rawValue: packet[1]) {
                case .commandComplete, .commandStatus: .answer
                case .numberOfCompletedPackets: .completion
                default: .event
                }
            case (.command, .host), (.event, .controller), (.synchronousData, _), (.isoData, _): .other
            }
    }
}
