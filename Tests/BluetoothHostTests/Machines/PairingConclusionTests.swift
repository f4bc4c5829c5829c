import BluetoothBase
import BluetoothSMP
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("The result of a pairing, phase by phase")
struct PairingConclusionTests {
    typealias Machine = PairingConclusion
    typealias Name = PairingConclusion.PhaseName

    private static let address = ScriptedController.peer
    private static let strength = KeyStrength(model: .justWorks, usesSecureConnections: true, keySize: 16)
    private static let success = Machine.Outcome.success(PairingResult(strength: strength, isBonded: true))
    private static let failure = Machine.Outcome.failure(.cancelled)
    private static let until = Instant.zero.advanced(by: .seconds(5))
    private static let later = Instant.zero.advanced(by: .seconds(30))

    private static func made(_ key: UInt128) -> MadeBond {
        var bond = Bond(peer: PeerID(address), address: address, strength: strength)
        bond.centralKey = LongTermKey(key: key)
        return MadeBond(link: LinkIdentifier(slot: 0, generation: 1), bond: bond, former: nil)
    }

    private static let events: [Machine.Event] = [
        .ended(success, until: later), .ended(failure, until: later), .confirmed,
        .bondMade(made(2), strength, until: later),
        .received([1]), .bondWritten(made(1), failure: nil), .bondWritten(made(1), failure: .noThread),
        .bondWritten(made(2), failure: nil), .timePassed(.zero), .timePassed(until), .linkEnded,
    ]

    private static func name(of event: Machine.Event) -> Machine.EventName {
        switch event {
        case .ended: .ended
        case .confirmed: .confirmed
        case .bondMade: .bondMade
        case .received: .received
        case .bondWritten: .bondWritten
        case .timePassed: .timePassed
        case .linkEnded: .linkEnded
        }
    }

    /// A machine's state, as the way there has made it.
    private enum State: Hashable {
        case idle
        case unconfirmed(Machine.Outcome, until: Instant)
        case storing(UInt128, until: Instant, heldPDU: [UInt8]? = nil, next: Machine.Outcome? = nil)

        var name: Name {
            switch self {
            case .idle: .idle
            case .unconfirmed: .unconfirmed
            case .storing: .storing
            }
        }
    }

    private static let states: [State] = [
        .idle, .unconfirmed(success, until: until), .unconfirmed(failure, until: until),
        .storing(1, until: until), .storing(1, until: until, heldPDU: [9]), .storing(1, until: until, next: success),
        .storing(1, until: until, heldPDU: [9], next: failure),
    ]

    private static func machine(in state: State) -> Machine {
        var machine = Machine()
        switch state {
        case .idle: break
        case .unconfirmed(let outcome, let until): _ = machine.handle(.ended(outcome, until: until))
        case .storing(let key, let until, let pdu, let next):
            _ = machine.handle(.bondMade(made(key), strength, until: until))
            if let pdu { _ = machine.handle(.received(pdu)) }
            if let next { _ = machine.handle(.ended(next, until: later)) }
        }
        return machine
    }

    /// What follows from an event, by the event first and the phase second; the machine is written the other way round.
    private func expected(_ event: Machine.Event, in state: State) -> (State, Machine.Effect?) {
        let former: Machine.Effect? =
            if case .unconfirmed(let outcome, _) = state { .conclude(outcome) } else { nil }
        switch (state, event) {
        case (.storing(let key, let until, let pdu, _), .ended(let outcome, _)):
            return (.storing(key, until: until, heldPDU: pdu, next: outcome), nil)
        case (_, .ended(let outcome, let until)): return (.unconfirmed(outcome, until: until), former)
        case (_, .bondMade(let made, _, let until)):
            return (.storing(made.bond.centralKey?.key ?? 0, until: until), former)
        case (.unconfirmed, .confirmed), (.unconfirmed, .timePassed(Self.until)): return (.idle, former)
        case (.unconfirmed(Self.failure, _), .linkEnded): return (.idle, .reportFailure(.cancelled))
        case (.unconfirmed, .linkEnded), (.storing, .linkEnded): return (.idle, .reportFailure(.disconnected))
        case (.storing(let key, let until, nil, let next), .received(let pdu)):
            return (.storing(key, until: until, heldPDU: pdu, next: next), nil)
        case (.storing(1, _, let pdu, let next), .bondWritten(Self.made(1), let failure)):
            let sequel = Machine.Sequel(outcome: next, heldPDU: pdu)
            return (.idle, .reportStored(Self.made(1), Self.strength, failure: failure, sequel))
        case (.storing(1, _, let pdu, let next), .timePassed(Self.until)):
            return (.idle, .revert(Self.made(1), Machine.Sequel(outcome: next, heldPDU: pdu)))
        default: return (state, nil)
        }
    }

    @Test("Every event in every phase")
    func table() {
        var seen = MachineTable<Machine>()
        for state in Self.states {
            let before = Self.machine(in: state)
            #expect(before.phaseName == state.name)
            #expect(before.isPending == (state != .idle) && before.isUnconfirmed == (state.name == .unconfirmed))
            #expect(before.isStoring == (state.name == .storing))
            #expect(before.deadline == (state == .idle ? nil : Self.until))
            for event in Self.events {
                var machine = before
                let effect = machine.handle(event)
                let (next, expectedEffect) = expected(event, in: state)
                #expect(machine == Self.machine(in: next) && machine.phaseName == next.name, "\(state) \(event)")
                #expect(effect == expectedEffect, "\(state) \(event)")
                seen.note(Self.name(of: event), from: before, to: machine, hasEffects: effect != nil)
            }
        }
        seen.expectTransitions()
    }
}
