import BluetoothBase
import BluetoothHost
import BluetoothSMP
import BluetoothUsers

/// A pairing agent with randomly drawn behavior.
struct SimulatedAgent {
    var description: PairingAgentDescription
    /// The delay before each answer; nil if the agent does not answer.
    var delay: Duration?
    var consents: Bool
    /// Whether the agent enters a different passkey from the one shown.
    var mistypes: Bool
    /// Whether the agent rejects equal numbers.
    var rejectsNumbers: Bool
    /// Whether the user disconnects as soon as a pairing has succeeded.
    var leavesAtOnce: Bool

    /// An agent that accepts everything immediately.
    static func willing(pairsOnDemand: Bool) -> SimulatedAgent {
        SimulatedAgent(
            description: PairingAgentDescription(
                ioCapability: .displayYesNo, isBonding: true, pairsOnDemand: pairsOnDemand),
            delay: .zero, consents: true, mistypes: false, rejectsNumbers: false, leavesAtOnce: false)
    }

    /// Whether pairings may fail because of the agent.
    var isUnwilling: Bool { !consents || delay.map { $0 > .seconds(10) } ?? true }
}

extension SimulatedAgent {
    init(drawnFrom pick: inout SeededGenerator) {
        let capabilities: [IOCapability] = [
            .noInputNoOutput, .displayOnly, .displayYesNo, .displayYesNo, .keyboardOnly, .keyboardDisplay,
            .keyboardDisplay,
        ]
        description = PairingAgentDescription(
            ioCapability: capabilities[pick.below(capabilities.count)], isBonding: !pick.oneIn(8),
            pairsOnDemand: !pick.oneIn(4))
        let delays: [Duration?] = [
            .zero, .zero, .milliseconds(100), .milliseconds(800), .milliseconds(800), .seconds(4), .seconds(40), nil,
        ]
        delay = delays[pick.below(delays.count)]
        consents = !pick.oneIn(8)
        mistypes = pick.oneIn(8)
        rejectsNumbers = pick.oneIn(8)
        leavesAtOnce = pick.oneIn(6)
    }
}
