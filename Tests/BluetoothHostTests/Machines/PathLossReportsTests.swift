import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("Reports of path loss, as a table")
struct PathLossReportsTests {
    typealias Machine = PathLossReports
    typealias Step = MachineStep<Machine>

    static let first = RequestIdentifier(number: 1), second = RequestIdentifier(number: 2)
    static let thresholds = PathLossThresholds(low: 50, high: 80, hysteresis: 3, minimumEvents: 4)
    static let refusal = HCIStatus.commandDisallowed

    /// A machine in this phase, with the first request.
    private static func machine(_ phase: Machine.PhaseName) throws -> Machine {
        var machine = Machine()
        if phase == .off { return machine }
        _ = try machine.ask(for: thresholds, first, LinkContext())
        if phase == .setting { return machine }
        _ = machine.handle(.answered(first, .success), LinkContext())
        if phase == .enabling { return machine }
        _ = machine.handle(.answered(first, .success), LinkContext())
        return machine
    }

    private static func enabling(_ isEnabled: Bool, for purpose: CommandPurpose) -> LinkEffect {
        .send(LESetPathLossReportingEnable(connectionHandle: LinkContext.handle, isEnabled: isEnabled), for: purpose)
    }

    private static func failed(_ error: HostError) -> LinkEffect { .report(.requestFailed(first, error)) }

    /// The step for each event: a success or a failure of the controller's for the first request, and the end of the
    /// reports.
    private static func expected(
        _ phase: Machine.PhaseName, canSend: Bool
    ) -> (success: Step, failure: Step, stop: Step) {
        let disabling = enabling(false, for: .none)
        switch phase {
        case .off: return (Step(.off), Step(.off), Step(.off))
        case .setting:
            let next = enabling(true, for: .power(.pathLoss, first, LinkContext.link))
            return (
                canSend ? Step(.enabling, [next]) : Step(.off, [failed(.busy)]),
                Step(.off, [failed(.controller(refusal))]), Step(.off, [failed(.cancelled), disabling])
            )
        case .enabling:
            return (
                Step(.on, [.report(.requestCompleted(first))]), Step(.off, [failed(.controller(refusal))]),
                Step(.off, [failed(.cancelled), disabling])
            )
        case .on: return (Step(.on), Step(.on), Step(.off, [disabling]))
        }
    }

    @Test("Every event in every phase, with room for commands or without")
    func table() throws {
        var table = MachineTable<Machine>()
        for phase in Machine.PhaseName.allCases {
            let machine = try Self.machine(phase)
            #expect(machine.phaseName == phase)
            #expect(machine.request == (phase == .setting || phase == .enabling ? Self.first : nil))
            for canSend in [true, false] {
                let context = LinkContext(canSendCommand: canSend)
                let expected = Self.expected(phase, canSend: canSend)
                table.check(machine, .answered, expected.success, "success, \(canSend)") {
                    $0.handle(.answered(Self.first, .success), context)
                }
                table.check(machine, .answered, expected.failure, "failure, \(canSend)") {
                    $0.handle(.answered(Self.first, Self.refusal), context)
                }
                table.check(machine, .stopped, expected.stop, "\(canSend)") { $0.handle(.stopped, context) }
                checkAsking(machine, context, &table)
                checkOthers(machine, context, &table)
            }
        }
        table.expectTransitions()
    }

    private func checkAsking(_ machine: Machine, _ context: LinkContext, _ table: inout MachineTable<Machine>) {
        let command = LESetPathLossReportingParameters(
            connectionHandle: LinkContext.handle, highThreshold: 80, highHysteresis: 3, lowThreshold: 50,
            lowHysteresis: 3, minTimeSpent: 4)
        let sent = Step(.setting, [.send(command, for: .power(.pathLoss, Self.second, LinkContext.link))])
        let isSent = machine.phaseName == .off && context.canSendCommand
        let after = table.check(
            machine, .asked, isSent ? sent : Step(machine.phaseName, error: .busy), "\(context)"
        ) { machine throws(HostError) in
            try machine.ask(for: Self.thresholds, Self.second, context)
        }
        #expect(after.request == (isSent ? Self.second : machine.request))
    }

    /// Reports of the controller, and answers to a request that has ended.
    private func checkOthers(_ machine: Machine, _ context: LinkContext, _ table: inout MachineTable<Machine>) {
        let phase = machine.phaseName
        for (octet, loss) in [(UInt8(85), Int?(85)), (0xFE, 254), (0xFF, nil)] {
            for zone in (0...3).map({ PathLossZone(rawValue: $0) }) {
                let report = LEPathLossThreshold(
                    connectionHandle: LinkContext.handle, currentPathLoss: octet, zoneEntered: zone)
                let event = HostEvent.Link.power(.pathLoss(PathLossReport(loss: loss, zone: zone)))
                let isReported = phase == .on && zone.rawValue < 3
                table.check(machine, .crossed, Step(phase, isReported ? [.report(event)] : []), "\(report)") {
                    $0.handle(.crossed(report), context)
                }
            }
        }
        for status in [HCIStatus.success, Self.refusal] {
            table.check(machine, .answered, Step(phase), "another request, \(status)") {
                $0.handle(.answered(Self.second, status), context)
            }
        }
    }
}
