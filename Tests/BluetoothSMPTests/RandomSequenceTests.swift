import BluetoothBase
import BluetoothSMP
import Testing

/// A peer that knows no secret, and tries everything in any order, never gets through (and nothing traps).
struct RandomSequenceTests {
    @Test(arguments: LinkRole.allCases)
    func `5,000 random sequences from a peer without secrets never complete a pairing`(_ role: LinkRole) {
        var generator = SeededGenerator(seed: 0x5EC0 + UInt64(role.rawValue))
        var reached: [PairingFailure] = []
        for seed in 0..<5000 {
            let scenario = DisorderTests.scenarios[seed % DisorderTests.scenarios.count]
            var side = scenario.couple()[role]
            side.resources.entropy = SeededGenerator(seed: UInt64(seed))
            var last: UInt8 = 0
            if role == .central { side.sends(after: .begin) }
            for _ in 0..<16 {
                if let question = side.questions.first {
                    side.questions.removeFirst()
                    // The person means another device: what it shows is not what the attacker has.
                    let answer: PairingAnswer
                    switch question {
                    case .consent: answer = .accept(side.parameters)
                    case .enterPasskey: answer = .passkey(UInt32(generator.number(below: 1_000_000)))
                    case .compareNumbers: answer = .refuse
                    }
                    side.sends(after: .answer(answer))
                }
                let input = Self.input(after: last, role, scenario, &generator)
                if let sent = side.sends(after: input).last { last = sent[0] }
                if case .local(let reason) = side.error, !reached.contains(reason) { reached.append(reason) }
                if case .success? = side.outcome {
                    Issue.record("seed \(seed) got through")
                    break
                }
            }
        }
        // The attempts come as far as the check values: otherwise this proves nothing.
        let ends: [PairingFailure] = [.confirmValueFailed, .unspecifiedReason, .invalidParameters]
        // A responder of Just Works is the only one that lets a peer come so far without a confirm value.
        for reason in ends + (role == .peripheral ? [.dhKeyCheckFailed] : []) {
            #expect(reached.contains(reason))
        }
    }

    static let publicKeys: [[UInt8]] = (1...8).compactMap {
        PairingSide(.central).resources.crypto.keyPair(privateKey: FieldElement(high: 7, low: $0))
    }.map { SecurityManagerPDU.pairingPublicKey($0.publicKey).octets }

    static func input(
        after last: UInt8, _ role: LinkRole, _ scenario: DisorderTests.Scenario, _ generator: inout SeededGenerator
    ) -> PairingInput {
        func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(generator.number(below: 256)) } }
        // Half of the time what an honest peer would send next.
        if generator.number(below: 2) == 0 {
            switch last {
            case 0x02, 0x0C:
                if scenario.policy.offersSecureConnections, role == .central || last == 0x02 {
                    return .pdu(publicKeys[generator.number(below: publicKeys.count)])
                }
                return .pdu([generator.number(below: 2) == 0 ? 0x03 : 0x04] + random(16))
            case 0x03: return .pdu([role == .central ? 0x03 : 0x04] + random(16))
            case 0x04: return .pdu([role == .central ? 0x04 : 0x0D] + random(16))
            default: break
            }
        }
        switch generator.number(below: 24) {
        case 0: return .encryption(status: 0)
        case 1: return .pdu(random(generator.number(below: 70)))
        case 2, 3, 4, 5: return .pdu(publicKeys[generator.number(below: publicKeys.count)])
        case 6, 7, 8: return .pdu([0x03] + random(16))
        case 9, 10, 11: return .pdu([0x04] + random(16))
        case 12, 13: return .pdu([0x0D] + random(16))
        case 14: return .pdu([UInt8(0x06 + generator.number(below: 5))] + random(16))
        case 15: return .pdu([0x0E, UInt8(generator.number(below: 5))])
        case 16: return .begin
        default:
            // Mostly features that lead on.
            let peer = role == .central ? scenario.parameters.peripheral : scenario.parameters.central
            let secure: UInt8 = scenario.policy.offersSecureConnections ? 0x08 : 0
            return .pdu([
                role == .central ? 0x02 : 0x01, peer.ioCapability.rawValue, scenario.exchangesOutOfBandData ? 1 : 0,
                secure | 0x05, 16, 7, 7,
            ])
        }
    }
}
