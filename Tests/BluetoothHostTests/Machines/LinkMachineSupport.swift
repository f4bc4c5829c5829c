import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@testable import BluetoothHost

extension LinkContext {
    static let link = LinkIdentifier(slot: 3, generation: 7)
    static let handle = ConnectionHandle(rawValue: 0x0040)

    /// The context of a link of these tests.
    init(
        _ role: LinkRole = .central, isAnnounced: Bool = true, canSendCommand: Bool = true,
        hasParameterRequest: Bool = false, isAskingCentral: Bool = false, at now: Duration = .zero
    ) {
        self.init(
            link: Self.link, handle: Self.handle, role: role, isAnnounced: isAnnounced,
            canSendCommand: canSendCommand, hasParameterRequest: hasParameterRequest,
            isAskingCentral: isAskingCentral, now: Instant.zero.advanced(by: now))
    }
}

/// What a machine did with one event, or what it should have done.
struct MachineStep<Machine: StateMachine>: Equatable, CustomStringConvertible {
    var next: Machine.PhaseName
    var effects: [String] = []
    var error: HostError?

    init(_ next: Machine.PhaseName, _ effects: [LinkEffect] = [], error: HostError? = nil) {
        self.next = next
        // Commands of different types have no other equality.
        self.effects = effects.map { "\($0)" }
        self.error = error
    }

    var description: String { "\(next), \(effects)\(error.map { ", throws \($0)" } ?? "")" }
}

extension MachineTable {
    /// Hands an event to a copy of a machine, and compares the step with the expected one.
    ///
    /// - Returns: the machine after the event.
    @discardableResult
    mutating func check(
        _ machine: Machine, _ event: Machine.EventName, _ expected: MachineStep<Machine>,
        _ comment: @autoclosure () -> String, sourceLocation: SourceLocation = #_sourceLocation,
        _ handle: (inout Machine) throws(HostError) -> [LinkEffect]
    ) -> Machine {
        var after = machine
        let step: MachineStep<Machine>
        do throws(HostError) {
            let effects = try handle(&after)
            step = MachineStep(after.phaseName, effects)
            note(event, from: machine, to: after, hasEffects: !effects.isEmpty)
        } catch {
            step = MachineStep(after.phaseName, error: error)
            #expect(after == machine, "a refused request leaves no trace", sourceLocation: sourceLocation)
        }
        let what = "\(machine.phaseName), \(event): \(comment())"
        #expect(step == expected, "\(what)", sourceLocation: sourceLocation)
        return after
    }
}
