import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

@Suite("Handing a link to the users of a shared host, event by event")
struct LinkReadinessTests {
    typealias Machine = LinkReadiness

    /// Facts in place of phases.
    private struct Model: Hashable {
        var isExchanged: Bool
        var isProtected: Bool
        var isRefused = false
        var isEnding = false
        var isGone = false

        init(_ role: LinkRole) { (isExchanged, isProtected) = (role == .peripheral, role == .peripheral) }

        var isReady: Bool { isExchanged && isProtected && !isRefused && !isGone }

        /// - Returns: whether the waiting users get the link.
        mutating func apply(_ event: Machine.EventName) -> Bool {
            let wasReady = isReady
            guard !isGone else { return false }
            switch event {
            case .exchangeOver: isExchanged = true
            // Before the exchange is over there is nothing to settle.
            case .protectionSettled: isProtected = isProtected || isExchanged
            case .protectionLost: isProtected = false
            case .bondRefused: isRefused = true
            case .endRequested: isEnding = true
            case .ended: isGone = true
            }
            return isReady && !wasReady
        }

        var phase: Machine.PhaseName {
            if isGone { return .gone }
            if isEnding { return .ending }
            if isRefused { return .refused }
            if isReady { return .ready }
            return isExchanged ? .protecting : .exchanging
        }
    }

    private struct State: Hashable {
        var machine: Machine
        var model: Model
    }

    private static func event(_ name: Machine.EventName) -> Machine.Event {
        switch name {
        case .exchangeOver: .exchangeOver
        case .protectionSettled: .protectionSettled
        case .protectionLost: .protectionLost
        case .bondRefused: .bondRefused
        case .endRequested: .endRequested
        case .ended: .ended
        }
    }

    private func check(_ state: State) {
        let (machine, model) = (state.machine, state.model)
        #expect(machine.phaseName == model.phase, "\(model)")
        #expect(machine.isInUse == !model.isGone, "\(model)")
        #expect(machine.isReady == model.isReady, "\(model)")
        #expect(machine.isUsable == !(model.isGone || model.isEnding || model.isRefused), "\(model)")
        #expect(machine.isEnding == (model.isEnding && !model.isGone), "\(model)")
        #expect(machine.mayAsk == !(model.isGone || model.isEnding), "\(model)")
        let awaitsProtection = model.isExchanged && !model.isProtected && !model.isRefused && !model.isGone
        #expect(machine.awaitsProtection == awaitsProtection, "\(model)")
    }

    @Test("Every event in every phase, from the beginning in both roles")
    func table() {
        var table = MachineTable<Machine>()
        var phases: Set<Machine.PhaseName> = []
        for role in [LinkRole.central, .peripheral] {
            let first = State(machine: Machine(role), model: Model(role))
            check(first)
            let states = explore(from: first, Machine.EventName.allCases) { before, name in
                var state = before
                let isGiven = state.machine.handle(Self.event(name))
                let isExpected = state.model.apply(name)
                #expect(isGiven == isExpected, "\(name) in \(before.model)")
                check(state)
                table.note(name, from: before.machine, to: state.machine, hasEffects: isGiven)
                return state
            }
            phases.formUnion(states.map(\.machine.phaseName))
        }
        #expect(phases == Set(Machine.PhaseName.allCases))
        table.expectTransitions()
    }

    @Test("A central's users get the link after the exchange and the encryption, even if it is about to end")
    func ending() {
        var readiness = LinkReadiness(.central)
        let gives = [LinkReadiness.Event.exchangeOver, .endRequested, .protectionSettled, .ended].map { event in
            readiness.handle(event)
        }
        #expect(gives == [false, false, true, false])
    }
}
