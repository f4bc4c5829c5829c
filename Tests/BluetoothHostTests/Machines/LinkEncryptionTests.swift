import BluetoothSMP
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("The encryption of a link, phase by phase")
struct LinkEncryptionTests {
    typealias Machine = LinkEncryption

    private static let weak = KeyStrength(model: .justWorks, usesSecureConnections: false, keySize: 7)
    private static let strong = KeyStrength(model: .passkeyEntry, usesSecureConnections: true, keySize: 16)
    private static let keys: [Machine.Key] = [.pairing, .bond(weak), .bond(strong)]

    /// What can be asked of a machine, and shows all of it.
    private struct State: Hashable {
        var strength: KeyStrength?
        var expectedKey: Machine.Key?

        var name: Machine.PhaseName {
            switch (strength, expectedKey) {
            case (nil, nil): .off
            case (nil, _): .starting
            case (_, nil): .on
            default: .refreshing
            }
        }
    }

    private static let states: [State] = [nil, weak, strong].flatMap { strength in
        ([nil] + keys).map { State(strength: strength, expectedKey: $0) }
    }

    private static let events: [Machine.Event] =
        keys.map { .keyGiven($0) } + [
            .encrypted(pairing: nil), .encrypted(pairing: weak), .encrypted(pairing: strong), .keyFailed, .decrypted,
        ]

    private static func machine(in state: State) -> Machine {
        var machine = Machine()
        if let strength = state.strength {
            _ = machine.handle(.keyGiven(.bond(strength)))
            _ = machine.handle(.encrypted(pairing: nil))
        }
        if let key = state.expectedKey { _ = machine.handle(.keyGiven(key)) }
        return machine
    }

    private static func name(of event: Machine.Event) -> Machine.EventName {
        switch event {
        case .keyGiven: .keyGiven
        case .encrypted: .encrypted
        case .keyFailed: .keyFailed
        case .decrypted: .decrypted
        }
    }

    /// The same as the machine, written down in another way: what an event does to the strength and the key.
    private func expected(_ event: Machine.Event, in state: State) -> (State, Machine.Effect?) {
        var next = state
        switch event {
        case .keyGiven(let key):
            guard state.expectedKey == nil else { return (state, nil) }
            next.expectedKey = key
            return (next, .sendKey)
        case .encrypted(let pairing):
            next.expectedKey = nil
            switch (state.expectedKey, pairing) {
            case (nil, _): return (state, .reportUnexpected)
            case (.bond(let strength), _):
                next.strength = strength
                return (next, .continueWithBond)
            case (.pairing, let strength):
                next.strength = strength
                return (next, strength == nil ? .replaceKey : .continuePairing)
            }
        case .keyFailed:
            next.expectedKey = nil
            return (next, state.expectedKey.map { .reportFailure($0) })
        case .decrypted: return (State(), nil)
        }
    }

    @Test("Every event in every phase, with every key")
    func table() {
        var seen = MachineTable<Machine>()
        for state in Self.states {
            let before = Self.machine(in: state)
            #expect(before.phaseName == state.name)
            for event in Self.events {
                var machine = before
                let effect = machine.handle(event)
                let (next, expectedEffect) = expected(event, in: state)
                #expect(
                    State(strength: machine.strength, expectedKey: machine.expectedKey) == next, "\(state) \(event)")
                #expect(machine == Self.machine(in: next) && machine.phaseName == next.name, "\(state) \(event)")
                #expect(effect == expectedEffect, "\(state) \(event)")
                seen.note(Self.name(of: event), from: before, to: machine, hasEffects: effect != nil)
            }
        }
        seen.expectTransitions()
    }
}
