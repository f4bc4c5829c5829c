import TestSupport
import Testing

@testable import BluetoothHost

@Suite("The indications of Encrypted Data Key Material, phase by phase")
struct KeyMaterialIndicationTests {
    typealias Machine = KeyMaterialIndication

    private static let events: [Machine.Event] = [
        .changed(isSubscribed: false), .changed(isSubscribed: true), .bearerFree(isSubscribed: false),
        .bearerFree(isSubscribed: true), .bearerBusy,
    ]

    private static func machine(isOwed: Bool) -> Machine {
        var machine = Machine()
        if isOwed { _ = machine.handle(.bearerBusy) }
        return machine
    }

    private static func name(of event: Machine.Event) -> Machine.EventName {
        switch event {
        case .changed: .changed
        case .bearerFree: .bearerFree
        case .bearerBusy: .bearerBusy
        }
    }

    @Test("Every event in every phase", arguments: [false, true])
    func table(isOwed: Bool) {
        for event in Self.events {
            var machine = Self.machine(isOwed: isOwed)
            let effect = machine.handle(event)
            // The value waits only behind another indication, and is sent to a peer that wants it.
            #expect(machine.isOwed == (event == .bearerBusy), "\(event)")
            let isSent = event == .changed(isSubscribed: true) || isOwed && event == .bearerFree(isSubscribed: true)
            #expect(effect == (isSent ? .indicate : nil), "\(event)")
        }
    }

    @Test("The table lists every transition, and no other")
    func transitions() {
        var seen = MachineTable<Machine>()
        for before in [false, true].map({ Self.machine(isOwed: $0) }) {
            for event in Self.events {
                var machine = before
                let effect = machine.handle(event)
                seen.note(Self.name(of: event), from: before, to: machine, hasEffects: effect != nil)
            }
        }
        seen.expectTransitions()
    }
}
