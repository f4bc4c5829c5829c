import BluetoothBase
import BluetoothSMP
import TestSupport
import Testing

/// The transition table of `Pairing`, compared with its behavior and with the specification.
struct TransitionTableTests {
    typealias Phase = Pairing.PhaseName

    /// An association model, and the phases of its authentication (Core 5.4, Vol 3, Part H, 2.3.5).
    struct Model: CustomTestStringConvertible {
        var scenario: DisorderTests.Scenario
        var authentication: [Phase]
        /// The same for the peripheral, where it differs.
        var peripheralAuthentication: [Phase]?
        var distributesKeys = true
        var testDescription: String { scenario.name }

        init(
            _ name: String, _ central: PairingParameters, _ peripheral: PairingParameters,
            policy: SecurityPolicy = SecurityPolicy(), exchangesOutOfBandData: Bool = false, _ authentication: Phase...
        ) {
            scenario = DisorderTests.Scenario(
                name: name, parameters: (central, peripheral), policy: policy,
                exchangesOutOfBandData: exchangesOutOfBandData)
            self.authentication = authentication
        }

        func path(of role: LinkRole) -> [Phase] {
            let features: Phase = role == .central ? .awaitingResponse : .consent
            var path: [Phase] = [.idle, features]
            path += role == .central ? authentication : peripheralAuthentication ?? authentication
            path.append(.encryption)
            if distributesKeys { path.append(.distribution) }
            path.append(.idle)
            return path
        }
    }

    static let models: [Model] = {
        let plain = PairingParameters(), unbonded = PairingParameters(isBonding: false)
        let display = DisorderTests.with(.displayOnly), keyboard = DisorderTests.with(.keyboardOnly)
        let numbers = DisorderTests.with(.displayYesNo)
        let temporaryKey = PairingParameters(peerOutOfBandData: .temporaryKey(7))
        let legacy = DisorderTests.legacy
        var notifyingDisplay = display, notifyingKeyboard = keyboard
        notifyingDisplay.sendsKeypresses = true
        notifyingKeyboard.sendsKeypresses = true

        var comparison = Model("numeric comparison", numbers, numbers, .publicKeys, .numbers, .check)
        // The initiator's check value arrives before the responder's user confirms.
        comparison.peripheralAuthentication = [.publicKeys, .numbers]
        var unbondedModels = [
            Model("Just Works, no bond", unbonded, unbonded, .publicKeys, .numbers, .check),
            Model("legacy, Just Works, no bond", unbonded, unbonded, policy: legacy, .legacy),
        ]
        for index in unbondedModels.indices { unbondedModels[index].distributesKeys = false }
        let bondedModels = [
            Model("legacy, Just Works", plain, plain, policy: legacy, .legacy),
            Model("legacy, initiator shows", display, keyboard, policy: legacy, .legacy),
            Model("legacy, responder shows", keyboard, display, policy: legacy, .legacy),
            Model("legacy, both enter", keyboard, keyboard, policy: legacy, .legacy),
            Model("legacy, out of band", temporaryKey, temporaryKey, .legacy),
            Model("Just Works", plain, plain, .publicKeys, .numbers, .check),
            Model("initiator shows", display, keyboard, .publicKeys, .passkey, .check),
            Model("responder shows", keyboard, display, .publicKeys, .passkey, .check),
            Model("both enter", keyboard, keyboard, .publicKeys, .passkey, .check),
            Model(
                "responder shows, with keypresses", notifyingKeyboard, notifyingDisplay, .publicKeys, .passkey, .check),
            Model("out of band", plain, plain, exchangesOutOfBandData: true, .publicKeys, .outOfBand, .check),
            comparison,
        ]
        return bondedModels + unbondedModels
    }()

    /// How a pairing differs from an honest one.
    enum Deviation {
        case refusal
        case differentNumbers(LinkRole)
        case passkey(UInt32, LinkRole)
        /// The last octet of each PDU with this code is wrong.
        case wrongValue(code: UInt8, from: LinkRole)
    }

    static let deviations: [Deviation] = {
        var deviations = [Deviation.refusal]
        for role in LinkRole.allCases {
            deviations += [.differentNumbers(role), .passkey(7, role), .passkey(1_000_000, role)]
            for code: UInt8 in [0x03, 0x04, 0x0C, 0x0D] { deviations.append(.wrongValue(code: code, from: role)) }
        }
        return deviations
    }()

    private func couple(_ model: Model, _ deviation: Deviation) -> PairingCouple {
        var couple = model.scenario.couple()
        switch deviation {
        case .refusal: couple.peripheral.consents = false
        case .differentNumbers(let role): couple[role].confirmsNumbers = false
        case .passkey(let passkey, let role): couple[role].entersInstead = passkey
        case .wrongValue(let code, let sender):
            couple.tamper = { from, octets in
                guard from == sender, octets[0] == code else { return [octets] }
                var changed = octets
                changed[octets.count - 1] ^= 1
                return [changed]
            }
        }
        return couple
    }

    // MARK: - Tests

    @Test(arguments: models, LinkRole.allCases)
    func `An honest pairing goes through the phases of its association model in order`(
        _ model: Model, _ role: LinkRole
    ) {
        var couple = model.scenario.couple()
        couple.pair()
        var side = model.scenario.couple()[role]
        var path = [side.pairing.phaseName]
        for input in couple.inputs[role] ?? [] {
            side.sends(after: input)
            if path.last != side.pairing.phaseName { path.append(side.pairing.phaseName) }
        }
        #expect(path == model.path(of: role))
        #expect(side.result != nil)
    }

    @Test func `The table lists every transition of pairings in every association model, and no other`() {
        var examiner = PairingExaminer()
        for model in Self.models {
            let start = model.scenario.couple()
            var honest = start
            honest.pair()
            #expect(honest.central.result != nil && honest.peripheral.result != nil, "\(model.scenario.name)")
            examiner.replay(honest, from: start)

            var requested = start
            requested.apply(.begin, to: .peripheral)
            requested.run()
            requested.pair()
            #expect(requested.central.result == honest.central.result, "\(model.scenario.name)")
            examiner.replay(requested, from: start)

            for deviation in Self.deviations {
                var changed = couple(model, deviation)
                changed.pair()
                examiner.replay(changed, from: start)
                // Some deviations do not affect a model: with Just Works, nobody enters a passkey.
                let isAffected = changed.inputs != honest.inputs
                let hasResult = changed.central.result != nil || changed.peripheral.result != nil
                #expect(hasResult == !isAffected, "\(model.scenario.name), \(deviation)")
            }
        }
        for role in LinkRole.allCases { examineWait(role, &examiner) }
        #expect(examiner.table.differences == [])
    }

    /// Examines an attempt that starts just after the passkeys on both devices differed.
    private func examineWait(_ role: LinkRole, _ examiner: inout PairingExaminer) {
        var couple = PairingCouple(DisorderTests.with(.keyboardOnly))
        couple.central.entersInstead = 1
        couple.peripheral.entersInstead = 2
        couple.pair()
        var side = couple[role]
        examiner.apply(.begin, to: &side, role, at: couple.now)
        #expect(side.pairing.phaseName == .waiting)
        examiner.probe(side, role, at: couple.now)
    }
}
