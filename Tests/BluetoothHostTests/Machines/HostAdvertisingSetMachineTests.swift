import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("The advertising set state machine")
struct HostAdvertisingSetMachineTests {
    typealias Model = HostAdvertisingSetModel

    static let verdicts: [RadioArbiter.Verdict] = [.proceed, .wait, .stop, .suspended]

    static func events(isExtended: Bool) -> [Model.Event] {
        var events: [Model.Event] = [
            .start(.connectable), .stop, .accepted, .refused, .answerUnclear, .peerConnected(isOnly: true),
            .peerConnected(isOnly: false), .peerFailed, .terminated(.success), .terminated(.advertisingTimeout),
            .terminated(.hardwareFailure), .giveUp, .abandon, .reset,
        ]
        events += verdicts.map { .advance($0, mayBegin: true, hasMoved: false) }
        events.append(.advance(.proceed, mayBegin: false, hasMoved: false))
        guard isExtended else { return events }
        events += [.start(.train), .start(.changedTrain), .start(.slowTrain), .advanceWithoutExtendedCommands]
        events.append(.advance(.proceed, mayBegin: true, hasMoved: true))
        return events
    }

    struct State: Hashable {
        var machine = HostAdvertisingSet(handle: AdvertisingHandle(0))
        var model: Model
    }

    private func radio(isExtended: Bool) -> RadioFeatures {
        var radio = RadioFeatures()
        radio.isExtended = isExtended
        if isExtended { radio.periodic = .advertising }
        return radio
    }

    private func advance(
        _ machine: inout HostAdvertisingSet, _ verdict: RadioArbiter.Verdict, _ mayBegin: Bool, _ hasMoved: Bool,
        isExtended: Bool
    ) -> [Effect] {
        var addresses = Advertiser.Addresses(own: .public)
        if hasMoved {
            addresses = Advertiser.Addresses(own: .random, random: DeviceAddress(0x40_00_00_00_00_01, kind: .random))
        }
        return machine.advance(
            verdict, mayBegin: mayBegin, addresses, radio(isExtended: isExtended), at: .zero)
    }

    private func apply(_ event: Model.Event, to machine: inout HostAdvertisingSet, _ model: Model) -> [Model.Action] {
        switch event {
        case .start(let kind): machine.start(kind.parameters, at: .zero)
        case .stop: machine.stop()
        case .advance(let verdict, let mayBegin, let hasMoved):
            return actions(advance(&machine, verdict, mayBegin, hasMoved, isExtended: model.isExtended))
        case .advanceWithoutExtendedCommands:
            return actions(advance(&machine, .wait, false, false, isExtended: false))
        case .accepted: return answer(&machine, .success, model)
        case .refused: return answer(&machine, .commandDisallowed, model)
        case .answerUnclear: return answer(&machine, .unspecifiedError, model)
        case .peerConnected(let isOnly): return actions(machine.peerConnected(isOnly: isOnly))
        case .peerFailed: return actions(machine.peerFailed())
        case .terminated(let status): return actions(machine.terminated(status, at: .zero))
        case .giveUp:
            guard let parameters = machine.parameters else { return [] }
            return actions(machine.giveUp(parameters, .busy))
        case .abandon: return actions(machine.abandon(.notReady))
        case .reset: machine.reset()
        }
        return []
    }

    /// Answers the command that must be with the controller.
    private func answer(
        _ machine: inout HostAdvertisingSet, _ status: HCIStatus, _ model: Model
    ) -> [Model.Action] {
        let step: HostAdvertisingSet.Step
        switch machine.phaseName {
        case .idle, .running, .paused, .stopped: return []
        case .starting, .resuming: step = model.rest == 0 ? .enable : .setUp
        case .updating: step = .update
        case .pausing, .stopping: step = .disable
        case .silencing: step = .silence
        case .removing: step = .remove
        }
        switch machine.answered(step, status) {
        case .effects(let effects): return actions(effects)
        case .refused(_, let effects): return [.reportRefusal] + actions(effects)
        }
    }

    private func actions(_ effects: [Effect]) -> [Model.Action] {
        effects.compactMap { effect in
            switch effect {
            case .send(_, .advertise(.setUp, _)): .setUp
            case .send(_, .advertise(.enable, _)): .enable
            case .send(_, .advertise(.disable, _)): .disable
            case .send(_, .advertise(.update, _)): .update
            case .send(_, .advertise(.silence, _)): .silence
            case .send(_, .advertise(.remove, _)): .remove
            case .report(.controller(.advertisingStarted)): .reportStart
            case .report(.controller(.advertisingEnded)): .reportEnd
            case .report(.controller(.advertisingFailed)): .reportFailure
            case .send, .report: nil
            }
        }
    }

    /// The event's name in the table; nil for calls that change what is wanted.
    private func name(of event: Model.Event) -> HostAdvertisingSet.EventName? {
        switch event {
        case .start, .stop, .giveUp, .abandon: nil
        case .advance, .advanceWithoutExtendedCommands: .advance
        case .accepted: .accepted
        case .refused: .refused
        case .answerUnclear: .answerUnclear
        case .peerConnected: .peerConnected
        case .peerFailed: .peerFailed
        case .terminated: .terminated
        case .reset: .reset
        }
    }

    @Test("Every event in every state matches the model and the transition table") func table() {
        var log = MachineTable<HostAdvertisingSet>()
        var phases: Set<HostAdvertisingSet.PhaseName> = []
        for isExtended in [false, true] {
            let first = State(model: Model(isExtended: isExtended))
            let states = explore(from: first, Self.events(isExtended: isExtended)) { before, event in
                // After two failures in a row it would wait.
                if event == .terminated(.hardwareFailure), before.model.failures > 0 { return nil }
                var state = before
                let seen = apply(event, to: &state.machine, before.model)
                let expected = state.model.apply(event)
                if let name = name(of: event) {
                    log.note(name, from: before.machine, to: state.machine, hasEffects: !seen.isEmpty)
                } else if state.machine.phaseName != before.machine.phaseName {
                    Issue.record("\(event) changes the phase of \(before.model)")
                }
                if seen != expected || !state.isConsistent {
                    Issue.record("\(event) in \(before.model) did \(seen), not \(expected)")
                }
                return state
            }
            phases.formUnion(states.map(\.machine.phaseName))
        }
        #expect(phases == Set(HostAdvertisingSet.PhaseName.allCases))
        log.expectTransitions()
    }
}

extension HostAdvertisingSetMachineTests.State {
    /// Whether the machine's answers agree with the model.
    fileprivate var isConsistent: Bool {
        let isOnAir = model.activity == .starting || model.activity == .running
        return machine.phaseName == model.phase && machine.parameters == model.wanted?.parameters
            && machine.isIdle == (model.activity == .idle)
            && machine.takesRoom == (model.activity != .idle || model.isKnownToController)
            && machine.isPeriodicOnAir == (model.activity == .running ? model.isPeriodic : model.isPaused)
            && machine.acceptsConnections
                == (isOnAir ? model.current == .connectable : model.activity == .stopping)
            && machine.waitsForConnections == (model.activity == .idle && model.wanted == .connectable)
            && machine.isOver
                == (model.activity == .idle && !model.isKnownToController && model.wanted == nil)
    }
}
