import BluetoothBase
import BluetoothSMP
import Testing

/// Every PDU that is missing, comes twice, or comes in the place of the next one, in every model and both roles, ends
/// in failure (SM PROT; S5).
struct DisorderTests {
    struct Scenario: CustomTestStringConvertible {
        var name: String
        var parameters: (central: PairingParameters, peripheral: PairingParameters)
        var policy = SecurityPolicy()
        var exchangesOutOfBandData = false
        var testDescription: String { name }

        func couple() -> PairingCouple {
            var couple = PairingCouple(policy: policy)
            couple.central.parameters = parameters.central
            couple.peripheral.parameters = parameters.peripheral
            if exchangesOutOfBandData {
                couple.central.parameters.peerOutOfBandData = couple.peripheral.resources.makeOutOfBandData()
                couple.peripheral.parameters.peerOutOfBandData = couple.central.resources.makeOutOfBandData()
                couple.central.parameters.hasSentOutOfBandData = true
                couple.peripheral.parameters.hasSentOutOfBandData = true
            }
            return couple
        }
    }

    static let legacy = SecurityPolicy(offersSecureConnections: false)
    static func with(_ io: IOCapability) -> PairingParameters {
        PairingParameters(ioCapability: io, requiresAuthentication: true)
    }

    static let scenarios: [Scenario] = [
        Scenario(name: "legacy, Just Works", parameters: (PairingParameters(), PairingParameters()), policy: legacy),
        Scenario(
            name: "legacy, initiator shows", parameters: (with(.displayOnly), with(.keyboardOnly)), policy: legacy),
        Scenario(
            name: "legacy, responder shows", parameters: (with(.keyboardOnly), with(.displayOnly)), policy: legacy),
        Scenario(name: "Just Works", parameters: (PairingParameters(), PairingParameters())),
        Scenario(name: "numeric comparison", parameters: (with(.displayYesNo), with(.displayYesNo))),
        Scenario(name: "initiator shows", parameters: (with(.displayOnly), with(.keyboardOnly))),
        Scenario(name: "responder shows", parameters: (with(.keyboardOnly), with(.displayOnly))),
        Scenario(
            name: "out of band", parameters: (PairingParameters(), PairingParameters()), exchangesOutOfBandData: true),
    ]

    /// What becomes of a device that is told this and nothing more.
    func outcome(
        _ inputs: [PairingInput], _ role: LinkRole, _ scenario: Scenario
    ) -> Result<PairingResult, PairingError>? {
        var side = scenario.couple()[role]
        for input in inputs { side.sends(after: input) }
        for effect in side.pairing.fire(at: Instant(nanoseconds: 30_000_000_000)) { side.note(effect) }
        #expect(!side.pairing.isUnderWay)
        return side.outcome
    }

    @Test(arguments: scenarios, LinkRole.allCases)
    func `A missing, repeated or swapped input ends in failure or does not change the result`(
        _ scenario: Scenario, _ role: LinkRole
    ) throws {
        var couple = scenario.couple()
        couple.pair()
        let inputs = try #require(couple.inputs[role])
        let honest = try #require(couple[role].result)
        #expect(outcome(inputs, role, scenario) == .success(honest))

        func expectFailure(_ inputs: [PairingInput], _ change: String) {
            guard case .failure = outcome(inputs, role, scenario) else {
                Issue.record("\(change) was not noticed")
                return
            }
        }
        func expectFailureOrTheSame(_ inputs: [PairingInput], _ change: String) {
            if case .success(let result) = outcome(inputs, role, scenario), result != honest {
                Issue.record("\(change) led to other keys")
            }
        }
        for index in inputs.indices.dropFirst(role == .central ? 1 : 0) {
            var missing = inputs
            missing.remove(at: index)
            if index > 0 { expectFailure(missing, "missing \(index)") }

            var doubled = inputs
            doubled.insert(inputs[index], at: index)
            let isLast = index == inputs.count - 1
            (inputs[index].isPDU && !isLast ? expectFailure : expectFailureOrTheSame)(doubled, "doubled \(index)")

            guard !isLast else { continue }
            var swapped = inputs
            swapped.swapAt(index, index + 1)
            let bothPDUs = inputs[index].isPDU && inputs[index + 1].isPDU
            // A first PDU that is none is answered, and does not keep the peer from beginning.
            (bothPDUs && index > 0 ? expectFailure : expectFailureOrTheSame)(swapped, "swapped \(index)")
        }
    }

    @Test(arguments: scenarios, LinkRole.allCases)
    func `Pairing never succeeds if a PDU is replaced with another of the same pairing`(
        _ scenario: Scenario, _ role: LinkRole
    ) throws {
        var couple = scenario.couple()
        couple.pair()
        let inputs = try #require(couple.inputs[role])
        // One of each code is enough.
        var kinds: [UInt8: PairingInput] = [:]
        for input in inputs { if case .pdu(let octets) = input { kinds[octets[0]] = input } }
        for index in inputs.indices {
            guard case .pdu(let octets) = inputs[index] else { continue }
            for (code, other) in kinds where code != octets[0] {
                var changed = inputs
                changed[index] = other
                guard case .failure? = outcome(changed, role, scenario) ?? .failure(.timedOut) else {
                    Issue.record("\(code) instead of \(octets[0]) at \(index) was not noticed")
                    continue
                }
            }
        }
    }
}
