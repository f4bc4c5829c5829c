import BluetoothBase
import BluetoothL2CAP
import TestSupport
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

@Suite("Waiting for a link to be secured, event by event")
struct SecurityGateTests {
    typealias Machine = SecurityGate

    private static let calls = [UserCall(1), UserCall(2)]

    private static let channels = [UInt64(3), 4].map { token in
        RefusedChannel(
            request: ChannelRequest(call: UserCall(token), psm: 0x80, parameters: ChannelParameters(), count: nil),
            failure: .refused(.insufficientAuthentication))
    }

    private enum Event {
        case machine(Machine.Event)
        case withdrawn(UserCall)
        case userLeft

        var name: Machine.EventName {
            switch self {
            case .machine(.requested): .requested
            case .machine(.refused): .refused
            case .machine(.asked): .asked
            case .machine(.answered): .answered
            case .machine(.agentLeft): .agentLeft
            case .machine(.settled): .settled
            case .machine(.ended): .ended
            case .withdrawn, .userLeft: .withdrawn
            }
        }
    }

    private static let events: [Event] =
        [
            .machine(.asked), .machine(.answered), .machine(.agentLeft), .machine(.settled(nil, isLinkOpen: true)),
            .machine(.settled(.timedOut, isLinkOpen: true)), .machine(.settled(.timedOut, isLinkOpen: false)),
            .machine(.ended(.cancelled)), .userLeft,
        ]
        + calls.flatMap { [.machine(.requested($0)), .withdrawn($0)] }
        + channels.flatMap { [.machine(.refused($0)), .withdrawn($0.request.call)] }

    /// Facts in place of phases.
    private struct Model: Hashable {
        var isAsking = false
        var calls: [UserCall] = []
        var channels: [RefusedChannel] = []

        var phase: Machine.PhaseName {
            if isAsking { return .asking }
            return calls.isEmpty && channels.isEmpty ? .idle : .waiting
        }

        mutating func apply(_ event: Event) -> [Machine.Effect] {
            let (waitingCalls, waitingChannels) = (calls, channels)
            switch event {
            case .machine(.requested(let call)): calls.append(call)
            case .machine(.refused(let channel)): channels.append(channel)
            case .machine(.asked): isAsking = true
            case .machine(.answered): isAsking = false
            case .machine(.agentLeft):
                defer { isAsking = false }
                return isAsking ? [.cancelPairing] : []
            case .machine(.settled(let error, isLinkOpen: false)):
                (isAsking, calls) = (false, [])
                return waitingCalls.map { .end($0, error) }
            case .machine(.settled(nil, isLinkOpen: true)):
                self = Model()
                return waitingCalls.map { .end($0, nil) } + waitingChannels.map { .reopen($0.request) }
            case .machine(.settled(let error?, isLinkOpen: true)):
                self = Model()
                return waitingCalls.map { .end($0, error) }
                    + waitingChannels.map { .end($0.request.call, .channel(.refused(.insufficientAuthentication))) }
            case .machine(.ended(let error)):
                self = Model()
                return waitingChannels.map { .end($0.request.call, error) } + waitingCalls.map { .end($0, error) }
            case .withdrawn(let call):
                calls.removeAll { $0 == call }
                channels.removeAll { $0.request.call == call }
            case .userLeft: (calls, channels) = ([], [])
            }
            return []
        }
    }

    private struct State: Hashable {
        var machine = Machine()
        var model = Model()
    }

    /// Returns nil for an event that cannot happen: a call that waits does not begin to wait again.
    private func apply(_ event: Event, to state: State, _ table: inout MachineTable<Machine>) -> State? {
        let waiting = state.model.calls + state.model.channels.map(\.request.call)
        var next = state
        let expected = next.model.apply(event)
        var effects: [Machine.Effect] = []
        switch event {
        case .machine(.requested(let call)) where waiting.contains(call): return nil
        case .machine(.refused(let channel)) where waiting.contains(channel.request.call): return nil
        case .machine(let event): effects = next.machine.handle(event)
        case .withdrawn(let call):
            let withdrawn = next.machine.withdraw(call)
            #expect(withdrawn == (waiting.contains(call) ? call : nil))
        case .userLeft: next.machine.forget(UserCall(1).user)
        }
        #expect(effects == expected, "\(event) in \(state.model)")
        #expect(next.machine.phaseName == next.model.phase, "\(event) in \(state.model)")
        #expect(next.machine.callCount == next.model.calls.count)
        #expect(next.machine.channelCount == next.model.channels.count)
        table.note(event.name, from: state.machine, to: next.machine, hasEffects: !effects.isEmpty)
        return next
    }

    @Test func `every event in every phase has the effects of the model`() {
        var table = MachineTable<Machine>()
        let states = explore(from: State(), Self.events) { apply($1, to: $0, &table) }
        #expect(Set(states.map(\.model.phase)) == Set(Machine.PhaseName.allCases))
        table.expectTransitions()
    }

    @Test func `a full gate has no room for another call or request`() {
        var gate = Machine()
        for token in 1...OperationScheduler.capacity {
            #expect(gate.hasRoomForCall)
            _ = gate.handle(.requested(UserCall(UInt64(token))))
        }
        #expect(!gate.hasRoomForCall)
        for token in 1...CreditBasedChannels.greatestCountAtOnce {
            #expect(gate.hasRoomForChannels)
            let request = ChannelRequest(
                call: UserCall(UInt64(10_000 + token)), psm: 0x80, parameters: ChannelParameters(), count: nil)
            _ = gate.handle(.refused(RefusedChannel(request: request, failure: .refused(.insufficientEncryption))))
        }
        #expect(!gate.hasRoomForChannels)
    }
}
