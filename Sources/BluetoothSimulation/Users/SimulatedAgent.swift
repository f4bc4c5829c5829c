import BluetoothBase
import BluetoothHost
import BluetoothSMP
import BluetoothUsers

/// Somebody who answers for the person, in a way that is drawn.
struct SimulatedAgent {
    var description: PairingAgentDescription
    /// How long each answer takes; nil if there is none.
    var delay: Duration?
    var consents: Bool
    /// Whether it enters another passkey than the one shown.
    var mistypes: Bool
    /// Whether it says of equal numbers that they are not.
    var rejectsNumbers: Bool
    /// Whether it ends the link as soon as a pairing has succeeded.
    var leavesAtOnce: Bool

    /// One that agrees to everything at once.
    static func willing(pairsOnDemand: Bool) -> SimulatedAgent {
        SimulatedAgent(
            description: PairingAgentDescription(
                ioCapability: .displayYesNo, isBonding: true, pairsOnDemand: pairsOnDemand),
            delay: .zero, consents: true, mistypes: false, rejectsNumbers: false, leavesAtOnce: false)
    }

    /// Whether pairings may fail because of it.
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
