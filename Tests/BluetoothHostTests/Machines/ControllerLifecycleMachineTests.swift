import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothHCI
@testable import BluetoothHost

@Suite("The controller lifecycle state machine")
struct ControllerLifecycleMachineTests {
    static let late = Instant.zero.advanced(by: .seconds(100))

    enum Event: Hashable {
        case start
        /// The answer to the command that is with the controller: with all that it can do, with little, or with an
        /// error.
        case answerRich, answerPoor, refuse
        case fail(at: Instant)
        case lose
    }

    static let events: [Event] = [
        .start, .answerRich, .answerPoor, .refuse, .fail(at: .zero), .fail(at: late), .lose,
    ]

    enum Result: Hashable {
        case ask(BringUpStep)
        case ready, failed, nothing
    }

    /// The same in another way: the steps in a list, and two counters.
    struct Model: Hashable {
        var step: BringUpStep?
        var isUp = false
        var isGivenUp = false
        var hasAcceptList = false
        var hasPublicAddress = false
        var hasBuffers = false
        var attempts = 0
        var failures = 0

        /// The steps that make sense for a controller with what is known of it so far.
        private var steps: [BringUpStep] {
            var steps: [BringUpStep] = [
                .reset, .readLocalVersionInformation, .readLocalSupportedCommands, .readLocalSupportedFeatures,
                .readBDADDR, .setEventMask, .leSetEventMask, .leReadLocalSupportedFeatures, .leReadBufferSize,
            ]
            if !hasBuffers || step == .readBufferSize { steps.append(.readBufferSize) }
            if hasAcceptList { steps.append(.leReadFilterAcceptListSize) }
            if !hasPublicAddress { steps.append(.leSetRandomAddress) }
            return steps
        }

        mutating func apply(_ event: Event) -> Result {
            switch event {
            case .start:
                guard step == nil, !isUp else { return .nothing }
                (attempts, failures, isGivenUp) = (0, 0, false)
                return reset()
            case .answerRich, .answerPoor, .refuse: return answered(event)
            case .fail(let now):
                guard step != nil || isUp else { return .nothing }
                if isUp, now == late { failures = 0 }
                failures += 1
                isUp = false
                return attempts < 3 && failures <= 5 ? reset() : giveUp()
            case .lose: (step, isUp, isGivenUp) = (nil, false, false)
            }
            return .nothing
        }

        private mutating func reset() -> Result {
            attempts += 1
            (step, hasAcceptList, hasPublicAddress, hasBuffers) = (.reset, false, false, false)
            return .ask(.reset)
        }

        private mutating func giveUp() -> Result {
            (step, isGivenUp) = (nil, true)
            return .failed
        }

        private mutating func answered(_ event: Event) -> Result {
            guard let step else { return .nothing }
            let essential: [BringUpStep] = [.reset, .leReadBufferSize, .readBufferSize, .leSetRandomAddress]
            if event == .refuse, essential.contains(step) { return giveUp() }
            if event == .answerRich {
                if step == .readLocalSupportedCommands { hasAcceptList = true }
                if step == .readBDADDR { hasPublicAddress = true }
                if step == .leReadBufferSize || step == .readBufferSize { hasBuffers = true }
            }
            guard let next = steps.first(where: { $0.rawValue > step.rawValue }) else {
                guard hasBuffers else { return giveUp() }
                (self.step, isUp, attempts) = (nil, true, 0)
                return .ready
            }
            self.step = next
            return .ask(next)
        }

        var phase: ControllerLifecycle.PhaseName {
            if let step { return step == .reset ? .resetting : .asking }
            return isUp ? .up : isGivenUp ? .failed : .off
        }
    }

    struct State: Hashable {
        var machine = ControllerLifecycle(HostConfiguration(seed: 1))
        var model = Model()
    }

    /// What a controller returns behind the status.
    private func parameters(of step: BringUpStep, isRich: Bool) -> [UInt8] {
        let amount: UInt8 = isRich ? 27 : 0
        switch step {
        case .readLocalVersionInformation: return [0x0C, 0, 0, 0x0C, 0x0A, 0, 0, 0]
        case .readLocalSupportedCommands:
            var octets = [UInt8](repeating: 0, count: 64)
            var commands = SupportedCommands()
            for octet in 0..<64 where isRich {
                for bit in 0..<8 where !commands.contains(.leReadFilterAcceptListSize) {
                    commands = SupportedCommands()
                    commands.insert(octet: octet, bit: bit)
                    if commands.contains(.leReadFilterAcceptListSize) { octets[octet] = 1 << UInt8(bit) }
                }
            }
            return octets
        // LE without BR/EDR.
        case .readLocalSupportedFeatures: return [0, 0, 0, 0, 0x60, 0, 0, 0]
        case .readBDADDR: return [amount, 0, 0, 0, 0, 0]
        case .leReadLocalSupportedFeatures: return [0, 0, 0, 0, 0, 0, 0, 0]
        case .leReadBufferSize: return [amount, 0, amount]
        case .readBufferSize: return [amount, 0, 0, amount, 0, 0, 0]
        case .leReadFilterAcceptListSize: return [8]
        default: return []
        }
    }

    private func answer(
        _ machine: inout ControllerLifecycle, _ step: BringUpStep, _ status: HCIStatus, isRich: Bool
    ) -> ControllerLifecycle.Outcome {
        let configuration = HostConfiguration(seed: 1)
        let command = step.command(
            for: ControllerProfile(), DeviceAddress(1, kind: .random),
            receiveBufferCount: configuration.receiveBufferCount, resolvesAddresses: false)
        let octets = parameters(of: step, isRich: isRich)
        let completion = CommandCompletion(
            token: 0, opcode: command.map { type(of: $0).opcode } ?? .leReadFilterAcceptListSize, status: status,
            isComplete: true, returnParameters: octets.span)
        return machine.answered(step, completion, at: .zero)
    }

    private func apply(_ event: Event, to machine: inout ControllerLifecycle, _ model: Model) -> Result {
        switch event {
        case .start: return result(machine.start())
        case .answerRich, .answerPoor, .refuse:
            guard let step = model.step else { return .nothing }
            let status: HCIStatus = event == .refuse ? .commandDisallowed : .success
            return result(answer(&machine, step, status, isRich: event == .answerRich))
        case .fail(let now): return result(machine.recover(from: .malformedPacket, at: now))
        case .lose: machine.lose()
        }
        return .nothing
    }

    private func result(_ outcome: ControllerLifecycle.Outcome) -> Result {
        switch outcome {
        case .ready: return .ready
        case .failed: return .failed
        case .effects(let effects):
            if case .send(_, .bringUp(let step))? = effects.first { return .ask(step) }
            return .nothing
        }
    }

    private func name(of event: Event) -> ControllerLifecycle.EventName {
        switch event {
        case .start: .start
        case .answerRich, .answerPoor: .accepted
        case .refuse: .refused
        case .fail: .failure
        case .lose: .loss
        }
    }

    @Test("Every event in every state matches the model and the transition table") func table() {
        var log = MachineTable<ControllerLifecycle>()
        let states = explore(from: State(), Self.events) { before, event in
            var state = before
            let seen = apply(event, to: &state.machine, before.model)
            let expected = state.model.apply(event)
            log.note(name(of: event), from: before.machine, to: state.machine, hasEffects: seen != .nothing)
            let (machine, model) = (state.machine, state.model)
            let isConsistent =
                machine.phaseName == model.phase && machine.isUp == model.isUp
                && machine.isUnderWay == (model.isUp || model.step != nil)
                && machine.isResetting == (model.step == .reset) && (machine.information != nil) == model.isUp
            if seen != expected || !isConsistent {
                Issue.record("\(event) in \(before.model) led to \(seen), not \(expected)")
            }
            return state
        }
        #expect(Set(states.map(\.machine.phaseName)) == Set(ControllerLifecycle.PhaseName.allCases))
        log.expectTransitions()
    }
}
