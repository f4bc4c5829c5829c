import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("Reports of transmit power, as a table")
struct TransmitPowerReportsTests {
    typealias Machine = TransmitPowerReports
    typealias Step = MachineStep<Machine>

    static let first = RequestIdentifier(number: 1), second = RequestIdentifier(number: 2)
    static let change = TransmitPowerChange(side: .remote, power: LinkTransmitPower(level: -4), delta: 2)
    static let refusal = HCIStatus.commandDisallowed

    /// A machine in this phase, with the first request.
    private static func machine(_ phase: Machine.PhaseName) throws -> Machine {
        var machine = Machine()
        if phase == .off { return machine }
        _ = try machine.ask(local: true, remote: false, first, LinkContext())
        if phase == .enabling { return machine }
        _ = machine.handle(.answered(first, .success), LinkContext())
        return machine
    }

    private static func setting(local: Bool, remote: Bool, for purpose: CommandPurpose) -> LinkEffect {
        .send(
            LESetTransmitPowerReportingEnable(
                connectionHandle: LinkContext.handle, reportsLocal: local, reportsRemote: remote),
            for: purpose)
    }

    @Test("Every event in every phase, with room for commands or without")
    func table() throws {
        var table = MachineTable<Machine>()
        for phase in Machine.PhaseName.allCases {
            let machine = try Self.machine(phase)
            #expect(machine.phaseName == phase)
            #expect(machine.request == (phase == .enabling ? Self.first : nil))
            for canSend in [true, false] {
                let context = LinkContext(canSendCommand: canSend)
                checkAsking(machine, context, &table)
                checkAnswers(machine, context, &table)
                let changed = Step(phase, phase == .on ? [.report(.power(.transmitPower(Self.change)))] : [])
                table.check(machine, .changed, changed, "\(canSend)") { $0.handle(.changed(Self.change), context) }

                let failure = LinkEffect.report(.requestFailed(Self.first, .cancelled))
                let disabling = Self.setting(local: false, remote: false, for: .none)
                let stopped: Step =
                    switch phase {
                    case .off: Step(.off)
                    case .enabling: Step(.off, [failure, disabling])
                    case .on: Step(.off, [disabling])
                    }
                table.check(machine, .stopped, stopped, "\(canSend)") { $0.handle(.stopped, context) }
            }
        }
        table.expectTransitions()
    }

    private func checkAsking(_ machine: Machine, _ context: LinkContext, _ table: inout MachineTable<Machine>) {
        let isSent = machine.phaseName == .off && context.canSendCommand
        for (local, remote) in [(true, false), (false, true), (true, true)] {
            let purpose = CommandPurpose.power(.transmitPower, Self.second, LinkContext.link)
            let sent = Step(.enabling, [Self.setting(local: local, remote: remote, for: purpose)])
            let after = table.check(
                machine, .asked, isSent ? sent : Step(machine.phaseName, error: .busy), "\(context)"
            ) { machine throws(HostError) in
                try machine.ask(local: local, remote: remote, Self.second, context)
            }
            #expect(after.request == (isSent ? Self.second : machine.request))
        }
    }

    private func checkAnswers(_ machine: Machine, _ context: LinkContext, _ table: inout MachineTable<Machine>) {
        let phase = machine.phaseName
        let completed = Step(.on, [.report(.requestCompleted(Self.first))])
        let failed = Step(.off, [.report(.requestFailed(Self.first, .controller(Self.refusal)))])
        table.check(machine, .answered, phase == .enabling ? completed : Step(phase), "success") {
            $0.handle(.answered(Self.first, .success), context)
        }
        table.check(machine, .answered, phase == .enabling ? failed : Step(phase), "failure") {
            $0.handle(.answered(Self.first, Self.refusal), context)
        }
        for status in [HCIStatus.success, Self.refusal] {
            table.check(machine, .answered, Step(phase), "another request, \(status)") {
                $0.handle(.answered(Self.second, status), context)
            }
        }
    }
}
