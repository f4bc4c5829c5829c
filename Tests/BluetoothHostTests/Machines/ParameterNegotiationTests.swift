import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("The negotiation of connection parameters, as a table")
struct ParameterNegotiationTests {
    typealias Machine = ParameterNegotiation
    typealias Step = MachineStep<Machine>

    static let first = RequestIdentifier(number: 1), second = RequestIdentifier(number: 2)
    static let wanted = ConnectionParameters(intervalMin: 24, intervalMax: 40, latency: 0, timeout: 400)
    static let wantedNow = current(.milliseconds(30)), otherNow = current(.milliseconds(100))
    /// The statuses that say that the link layer's procedure is missing on one of the two sides.
    static let missing: [HCIStatus] = [.unsupportedRemoteFeature, .commandDisallowed, .unknownCommand]
    static let failures = missing + [.unacceptableConnectionParameters, .unspecifiedError]

    private static func current(_ interval: Duration) -> CurrentConnectionParameters {
        CurrentConnectionParameters(interval: interval, latency: 0, supervisionTimeout: .seconds(4))
    }

    enum Phase: Equatable {
        case idle
        case updating(RequestIdentifier, since: Duration)
        case refused(since: Duration)
    }

    struct State: Equatable {
        var phase: Phase
        var current = wantedNow
        /// Whether the peer has the link layer's procedure, as far as is known.
        var peerHasProcedure = false

        var name: Machine.PhaseName {
            switch phase {
            case .idle: .idle
            case .updating: .updating
            case .refused: .refused
            }
        }
    }

    static let states: [State] = [Phase.idle, .updating(first, since: .zero), .refused(since: .zero)].flatMap { phase in
        [wantedNow, otherNow].flatMap { current in
            [true, false].map { State(phase: phase, current: current, peerHasProcedure: $0) }
        }
    }

    static let contexts: [LinkContext] = [29, 30, 39, 40].flatMap { seconds in
        (0..<32).map { bits in
            LinkContext(
                bits & 1 == 0 ? .central : .peripheral, isAnnounced: bits & 2 != 0, canSendCommand: bits & 4 != 0,
                hasParameterRequest: bits & 8 != 0, isAskingCentral: bits & 16 != 0, at: .seconds(seconds))
        }
    }

    /// A machine in this state.
    private static func machine(_ state: State) throws -> Machine {
        var machine = Machine(state.current)
        if state.peerHasProcedure {
            _ = machine.handle(.featuresRead([.connectionParametersRequest, .le2MPHY]), LinkContext())
        }
        switch state.phase {
        case .idle: break
        case .updating(let request, let since): _ = try machine.ask(for: wanted, request, LinkContext(at: since))
        case .refused(let since): _ = machine.handle(.centralAnswered(.rejected), LinkContext(at: since))
        }
        return machine
    }

    /// The state after an event, and the effects.
    private struct Oracle {
        var state: State
        var effects: [LinkEffect] = []
        let context: LinkContext

        var now: Duration { Instant.zero.duration(to: context.now) }
        var step: Step { Step(state.name, effects) }
        var update: LEConnectionUpdate {
            LEConnectionUpdate(
                connectionHandle: LinkContext.handle, connectionParameters: LEConnectionParameters(wanted))
        }

        /// The reason to refuse a request; nil where it is sent.
        mutating func ask() -> HostError? {
            let peripheralMayUseLinkLayer = context.hasParameterRequest && state.peerHasProcedure
            if case .updating = state.phase { return .busy }
            if case .refused(let since) = state.phase, now - since < .seconds(30) { return .refusedByPeer }
            switch (context.role, peripheralMayUseLinkLayer) {
            case (.central, _), (.peripheral, true):
                if !context.canSendCommand { return .busy }
                effects = [.send(update, for: .connectionUpdate(LinkContext.link))]
            case (.peripheral, false):
                if context.isAskingCentral { return .busy }
                effects = [.requestParameters(wanted)]
            }
            state.phase = .updating(second, since: now)
            return nil
        }

        mutating func end(_ error: HostError?) {
            guard case .updating(let request, _) = state.phase else { return }
            state.phase = .idle
            effects.append(.report(error.map { .requestFailed(request, $0) } ?? .requestCompleted(request)))
        }

        mutating func refuse() {
            end(.refusedByPeer)
            state.phase = .refused(since: now)
        }

        mutating func fail(_ status: HCIStatus) {
            guard case .updating = state.phase else { return }
            if context.role == .peripheral, status == .unacceptableConnectionParameters { return refuse() }
            guard context.role == .peripheral, missing.contains(status) else { return end(.controller(status)) }
            state.peerHasProcedure = false
            if context.isAskingCentral { end(.controller(status)) } else { effects = [.requestParameters(wanted)] }
        }

        mutating func change(to current: CurrentConnectionParameters) {
            state.current = current
            guard context.isAnnounced else { return }
            effects = [.report(.parametersChanged(current))]
            end(nil)
        }
    }

    @Test("Every event in every state, in every context")
    func table() throws {
        var table = MachineTable<Machine>()
        for state in Self.states {
            let machine = try Self.machine(state)
            for context in Self.contexts {
                let oracle = Oracle(state: state, context: context)
                try checkAsking(machine, oracle, &table)
                try checkController(machine, oracle, &table)
                try checkPeer(machine, oracle, &table)
            }
        }
        table.expectTransitions()
    }

    @Test("The machine exposes its request and deadline while it waits", arguments: states)
    func waiting(_ state: State) throws {
        let machine = try Self.machine(state)
        let isWaiting = state.name == .updating
        #expect(machine.request == (isWaiting ? Self.first : nil))
        #expect(machine.deadline == (isWaiting ? Instant.zero.advanced(by: .seconds(40)) : nil))
        #expect(machine.current == state.current)
    }

    private func checkAsking(
        _ machine: Machine, _ oracle: Oracle, _ table: inout MachineTable<Machine>
    ) throws {
        var oracle = oracle
        let context = oracle.context
        let refusal = oracle.ask()
        let step = refusal.map { Step(oracle.state.name, error: $0) } ?? oracle.step
        let after = table.check(machine, .asked, step, "\(context)") { machine throws(HostError) in
            try machine.ask(for: Self.wanted, Self.second, context)
        }
        #expect(try after == Self.machine(oracle.state))
    }

    private func checkController(
        _ machine: Machine, _ oracle: Oracle, _ table: inout MachineTable<Machine>
    ) throws {
        try check(machine, .commandAnswered, .commandAnswered(.success), oracle, &table) { _ in }
        for status in Self.failures {
            try check(machine, .commandAnswered, .commandAnswered(status), oracle, &table) { $0.fail(status) }
            let completed = Machine.Event.updateCompleted(status, Self.otherNow)
            try check(machine, .updateCompleted, completed, oracle, &table) { $0.fail(status) }
        }
        for current in [Self.wantedNow, Self.otherNow] {
            let completed = Machine.Event.updateCompleted(.success, current)
            try check(machine, .updateCompleted, completed, oracle, &table) { $0.change(to: current) }
        }
        try check(machine, .timePassed, .timePassed, oracle, &table) {
            if $0.now == .seconds(40) { $0.end(.timedOut) }
        }
    }

    private func checkPeer(
        _ machine: Machine, _ oracle: Oracle, _ table: inout MachineTable<Machine>
    ) throws {
        for features in [[], [.connectionParametersRequest], [.le2MPHY]] as [LEFeatures] {
            try check(machine, .featuresRead, .featuresRead(features), oracle, &table) {
                $0.state.peerHasProcedure = features == [.connectionParametersRequest]
            }
        }
        try check(machine, .centralAnswered, .centralAnswered(.accepted), oracle, &table) {
            if $0.state.current == Self.wantedNow { $0.end(nil) }
        }
        try check(machine, .centralAnswered, .centralAnswered(.timedOut), oracle, &table) { $0.end(.timedOut) }
        for end in [ConnectionParameterUpdateEnd.rejected, .notSupported] {
            try check(machine, .centralAnswered, .centralAnswered(end), oracle, &table) { $0.refuse() }
        }
        try check(machine, .peripheralAsked, .peripheralAsked(Self.wanted), oracle, &table) {
            if $0.context.canSendCommand { $0.effects = [.send($0.update, for: .none)] }
        }
    }

    private func check(
        _ machine: Machine, _ name: Machine.EventName, _ event: Machine.Event, _ oracle: Oracle,
        _ table: inout MachineTable<Machine>, _ expect: (inout Oracle) -> Void
    ) throws {
        var oracle = oracle
        expect(&oracle)
        let context = oracle.context
        let after = table.check(machine, name, oracle.step, "\(event), \(context)") { $0.handle(event, context) }
        #expect(try after == Self.machine(oracle.state))
    }
}
