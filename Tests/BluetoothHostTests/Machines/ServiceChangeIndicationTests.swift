import BluetoothATT
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("Service Changed indications, phase by phase")
struct ServiceChangeIndicationTests {
    typealias Machine = ServiceChangeIndication
    typealias Name = ServiceChangeIndication.PhaseName
    typealias Handles = ClosedRange<AttributeHandle>

    private static let first: Handles = 5...9
    private static let second: Handles = 7...20
    private static let both: Handles = 5...20

    private static let events: [Machine.Event] = [.changed(second), .bearerFree, .notSent, .confirmed]
    private static let contexts = [false, true].flatMap { isSubscribed in
        [false, true].map { Machine.Context(isSubscribed: isSubscribed, isReady: $0) }
    }

    /// What waits, and whether an indication is unconfirmed.
    private struct State: Hashable {
        var owed: Handles?
        var isIndicated = false

        var name: Name {
            switch (owed, isIndicated) {
            case (nil, false): .settled
            case (_, false): .owed
            case (nil, true): .indicated
            case (_, true): .indicatedAndOwed
            }
        }
    }

    private static let states: [State] = [
        State(), State(owed: first), State(isIndicated: true), State(owed: first, isIndicated: true),
    ]

    private static func machine(in state: State) -> Machine {
        var machine = Machine()
        if state.isIndicated { _ = machine.handle(.changed(1...1), Machine.Context(isSubscribed: true, isReady: true)) }
        if let owed = state.owed {
            _ = machine.handle(.changed(owed), Machine.Context(isSubscribed: true, isReady: false))
        }
        return machine
    }

    private static func name(of event: Machine.Event) -> Machine.EventName {
        switch event {
        case .changed: .changed
        case .bearerFree: .bearerFree
        case .notSent: .notSent
        case .confirmed: .confirmed
        }
    }

    /// Two facts in place of four phases.
    private func expected(
        _ event: Machine.Event, in state: State, _ context: Machine.Context
    ) -> (State, Machine.Effect?) {
        var next = state
        switch event {
        case .changed(let handles): next.owed = state.owed == nil ? handles : Self.both
        case .bearerFree: break
        case .notSent:
            next.isIndicated = false
            return (next, nil)
        case .confirmed:
            next.isIndicated = false
            return (next, next.owed == nil ? .settle : nil)
        }
        guard let owed = next.owed else { return (next, nil) }
        switch (context.isSubscribed, context.isReady) {
        case (false, _): return (State(isIndicated: next.isIndicated), nil)
        case (true, false): return (next, nil)
        case (true, true): return (State(isIndicated: true), .indicate(owed))
        }
    }

    @Test("Every event in every phase, with and without a subscription and an unconfirmed indication")
    func table() {
        var seen = MachineTable<Machine>()
        for state in Self.states {
            let before = Self.machine(in: state)
            #expect(before.phaseName == state.name)
            #expect(before.isOwed == (state.owed != nil) && before.isPending == (state != State()))
            for context in Self.contexts {
                for event in Self.events {
                    var machine = before
                    let effect = machine.handle(event, context)
                    let (next, expectedEffect) = expected(event, in: state, context)
                    #expect(
                        machine == Self.machine(in: next) && machine.phaseName == next.name,
                        "\(state) \(event) \(context)")
                    #expect(effect == expectedEffect, "\(state) \(event) \(context)")
                    seen.note(Self.name(of: event), from: before, to: machine, hasEffects: effect != nil)
                }
            }
        }
        seen.expectTransitions()
    }
}
