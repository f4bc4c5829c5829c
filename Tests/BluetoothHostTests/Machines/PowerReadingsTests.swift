import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("Transmit power readings, as a table")
struct PowerReadingsTests {
    typealias Machine = PowerReadings
    typealias Step = MachineStep<Machine>

    static let local = RequestIdentifier(number: 1), remote = RequestIdentifier(number: 2)
    static let new = RequestIdentifier(number: 3)
    static let power = LinkTransmitPower(level: -4, maximum: 8)
    static let refusal = HCIStatus.unsupportedRemoteFeature

    static let contexts = [true, false].flatMap { canSend in
        [39, 40].map { LinkContext(canSendCommand: canSend, at: .seconds($0)) }
    }

    /// A machine that waits for these answers since the beginning.
    private static func machine(local hasLocal: Bool, remote hasRemote: Bool) throws -> Machine {
        var machine = Machine()
        if hasLocal { _ = try machine.readLocal(on: .le1M, local, LinkContext()) }
        if hasRemote { _ = try machine.readRemote(on: .le1M, remote, LinkContext()) }
        return machine
    }

    private static func readsLocal(_ phy: PowerLevelPHY) -> LinkEffect {
        .send(
            LEEnhancedReadTransmitPowerLevel(connectionHandle: LinkContext.handle, phy: phy),
            for: .power(.localReading, new, LinkContext.link))
    }

    private static func readsRemote(_ phy: PowerLevelPHY) -> LinkEffect {
        .send(
            LEReadRemoteTransmitPowerLevel(connectionHandle: LinkContext.handle, phy: phy),
            for: .power(.remoteReading, new, LinkContext.link))
    }

    @Test("Every event in every state, in every context that matters")
    func table() throws {
        var table = MachineTable<Machine>()
        for (hasLocal, hasRemote) in [(false, false), (true, false), (false, true), (true, true)] {
            let machine = try Self.machine(local: hasLocal, remote: hasRemote)
            #expect(machine.requests == (hasLocal ? [Self.local] : []) + (hasRemote ? [Self.remote] : []))
            #expect(machine.deadline == (hasRemote ? Instant.zero.advanced(by: .seconds(40)) : nil))
            for context in Self.contexts {
                checkLocal(machine, hasLocal: hasLocal, context, &table)
                checkRemote(machine, hasRemote: hasRemote, context, &table)
            }
        }
        table.expectTransitions()
    }

    private func checkLocal(
        _ machine: Machine, hasLocal: Bool, _ context: LinkContext, _ table: inout MachineTable<Machine>
    ) {
        let phase = machine.phaseName
        let asked = context.canSendCommand ? Step(phase, [Self.readsLocal(.le2M)]) : Step(phase, error: .busy)
        var after = table.check(machine, .localAsked, asked, "\(context)") { machine throws(HostError) in
            try machine.readLocal(on: .le2M, Self.new, context)
        }
        #expect(after.requests.contains(Self.new) == context.canSendCommand)

        let ends: [(Result<LinkTransmitPower, HostError>, HostEvent.Link)] = [
            (.success(Self.power), .transmitPowerRead(Self.local, Self.power)),
            (.failure(.controller(Self.refusal)), .requestFailed(Self.local, .controller(Self.refusal))),
        ]
        for (result, event) in ends {
            let answered = Step(phase, hasLocal ? [.report(event)] : [])
            after = table.check(machine, .localAnswered, answered, "\(result), \(context)") {
                $0.handle(.localAnswered(Self.local, result), context)
            }
            #expect(!after.requests.contains(Self.local) && after.deadline == machine.deadline)
        }
        // No request of this machine's.
        table.check(machine, .localAnswered, Step(phase), "\(context)") {
            $0.handle(.localAnswered(Self.new, .success(Self.power)), context)
        }
    }

    private func checkRemote(
        _ machine: Machine, hasRemote: Bool, _ context: LinkContext, _ table: inout MachineTable<Machine>
    ) {
        let isSent = !hasRemote && context.canSendCommand
        let asked = isSent ? Step(.waiting, [Self.readsRemote(.leCodedS8)]) : Step(machine.phaseName, error: .busy)
        let after = table.check(machine, .remoteAsked, asked, "\(context)") { machine throws(HostError) in
            try machine.readRemote(on: .leCoded, Self.new, context)
        }
        if isSent {
            #expect(after.requests.last == Self.new)
            #expect(after.deadline == context.now.advanced(by: .seconds(40)))
        }

        func ended(_ event: HostEvent.Link) -> Step { hasRemote ? Step(.idle, [.report(event)]) : Step(.idle) }
        let failed = ended(.requestFailed(Self.remote, .controller(Self.refusal)))
        table.check(machine, .remoteAnswered, Step(machine.phaseName), "\(context)") {
            $0.handle(.remoteAnswered(.success), context)
        }
        table.check(machine, .remoteAnswered, failed, "\(context)") {
            $0.handle(.remoteAnswered(Self.refusal), context)
        }
        table.check(machine, .remoteReported, failed, "\(context)") {
            $0.handle(.remoteReported(Self.refusal, Self.power), context)
        }
        table.check(machine, .remoteReported, ended(.transmitPowerRead(Self.remote, Self.power)), "\(context)") {
            $0.handle(.remoteReported(.success, Self.power), context)
        }
        let isDue = context.now == Instant.zero.advanced(by: .seconds(40))
        let timedOut = isDue ? ended(.requestFailed(Self.remote, .timedOut)) : Step(machine.phaseName)
        let later = table.check(machine, .timePassed, timedOut, "\(context)") { $0.handle(.timePassed, context) }
        #expect(later.requests.contains(Self.remote) == (hasRemote && !isDue))
    }
}
