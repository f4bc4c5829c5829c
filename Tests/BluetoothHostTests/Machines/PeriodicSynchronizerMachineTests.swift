import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("The periodic synchronizer state machine")
struct PeriodicSynchronizerMachineTests {
    static let addresses = [DeviceAddress(1, kind: .public), DeviceAddress(2, kind: .public)]
    /// The first request names an advertiser; the second one needs the controller's list.
    static let requests = [1, 2].map { count in
        PeriodicSynchronizer.Request(
            identifier: PeriodicSyncIdentifier(number: UInt32(count)),
            advertisers: addresses.prefix(count).map { PeriodicAdvertiser(peer: PeerID($0), sid: 0) },
            parameters: PeriodicSyncParameters(), deadline: nil)
    }
    static let late = Instant.zero.advanced(by: .seconds(100))

    enum Event: Hashable {
        case add(Int), remove(Int)
        case advance(at: Instant)
        case accepted, refused
        case found, notFound
        case expire, reset
    }

    static let events: [Event] = [
        .add(0), .add(1), .remove(0), .remove(1), .advance(at: .zero), .advance(at: late), .accepted, .refused, .found,
        .notFound, .expire, .reset,
    ]

    enum Action: Hashable {
        case setUp, create, cancel
        case reportFailure(Int)
        case searchEnded(Int)
    }

    enum Activity { case idle, starting, running, cancelling }

    /// The same in another way: the queue, and the request and the commands that the controller is busy with.
    struct Model: Hashable {
        var queue: [Int] = []
        var activity = Activity.idle
        var current: Int?
        /// The number of commands that follow the one with the controller.
        var rest = 0
        var failures = 0

        mutating func apply(_ event: Event) -> [Action] {
            defer { if activity == .idle || activity == .cancelling { (current, rest) = (nil, 0) } }
            switch event {
            case .add(let index): queue.append(index)
            case .remove(let index): queue.removeAll { $0 == index }
            case .advance(let now): return advance(isTurnOver: now == late)
            case .accepted:
                guard activity == .starting else { return [] }
                guard rest > 0 else {
                    activity = .running
                    return []
                }
                rest -= 1
                return [rest == 0 ? .create : .setUp]
            case .refused:
                guard activity == .starting || activity == .cancelling else { return [] }
                defer { activity = .idle }
                guard activity == .starting, let current, queue.contains(current) else { return [] }
                queue.removeAll { $0 == current }
                return [.reportFailure(current)]
            case .found, .notFound:
                defer { activity = .idle }
                guard activity == .running, let current, queue.contains(current) else { return [] }
                failures = event == .found ? 0 : failures + 1
                if event == .found { queue.removeAll { $0 == current } }
                return [.searchEnded(current)]
            case .expire: if activity == .cancelling { activity = .idle }
            case .reset: (activity, failures) = (.idle, 0)
            }
            return []
        }

        private mutating func advance(isTurnOver: Bool) -> [Action] {
            switch activity {
            case .starting, .cancelling: return []
            case .idle:
                guard let first = queue.first else { return [] }
                // A list is cleared and filled with two advertisers first.
                (activity, current, rest) = (.starting, first, first == 0 ? 0 : 3)
                return [rest == 0 ? .create : .setUp]
            case .running:
                if queue.first == current {
                    guard queue.count > 1, isTurnOver else { return [] }
                    queue.reverse()
                }
                activity = .cancelling
                return [.cancel]
            }
        }

        var phase: PeriodicSynchronizer.PhaseName {
            switch activity {
            case .idle: .idle
            case .starting: .starting
            case .running: .running
            case .cancelling: .cancelling
            }
        }
    }

    struct State: Hashable {
        var machine = PeriodicSynchronizer()
        var model = Model()
    }

    private func apply(_ event: Event, to machine: inout PeriodicSynchronizer, _ model: Model) -> [Action] {
        switch event {
        case .add(let index): machine.add(Self.requests[index])
        case .remove(let index): _ = machine.remove(Self.requests[index].identifier)
        case .advance(let now): return actions(machine.advance(Self.addresses, at: now))
        case .accepted: return answer(&machine, .success, model)
        case .refused: return answer(&machine, .commandDisallowed, model)
        case .found, .notFound:
            let status: HCIStatus = event == .found ? .success : .connectionFailedToBeEstablished
            return machine.ended(status, at: .zero).map { [.searchEnded(index(of: $0.identifier))] } ?? []
        case .expire: return actions(machine.fire(at: Self.late.advanced(by: .seconds(1000))))
        case .reset: return actions(machine.reset(.controllerReset))
        }
        return []
    }

    /// Answers the command that must be with the controller.
    private func answer(_ machine: inout PeriodicSynchronizer, _ status: HCIStatus, _ model: Model) -> [Action] {
        switch machine.phaseName {
        case .idle, .running: []
        case .starting: actions(machine.answered(model.rest == 0 ? .create : .setUp, status, at: .zero))
        case .cancelling: actions(machine.answered(.cancel, status, at: .zero))
        }
    }

    private func index(of identifier: PeriodicSyncIdentifier) -> Int { Int(identifier.number) - 1 }

    private func actions(_ effects: [Effect]) -> [Action] {
        effects.compactMap { effect in
            switch effect {
            case .send(_, .synchronize(.setUp)): .setUp
            case .send(_, .synchronize(.create)): .create
            case .send(_, .synchronize(.cancel)): .cancel
            case .report(.periodic(let identifier, .failed)): .reportFailure(index(of: identifier))
            case .send, .report: nil
            }
        }
    }

    /// The event's name in the table; nil for calls.
    private func name(of event: Event) -> PeriodicSynchronizer.EventName? {
        switch event {
        case .add, .remove: nil
        case .advance: .advance
        case .accepted: .accepted
        case .refused: .refused
        case .found, .notFound: .ended
        case .expire: .expire
        case .reset: .reset
        }
    }

    @Test("Every event in every state matches the model and the transition table") func table() {
        var log = MachineTable<PeriodicSynchronizer>()
        let states = explore(from: State(), Self.events) { before, event in
            // Each request waits once, and after two failures in a row the synchronizer would wait.
            if case .add(let index) = event, before.model.queue.contains(index) { return nil }
            if event == .notFound, before.model.failures > 0 { return nil }
            var state = before
            let seen = apply(event, to: &state.machine, before.model)
            let expected = state.model.apply(event)
            if let name = name(of: event) {
                log.note(name, from: before.machine, to: state.machine, hasEffects: !seen.isEmpty)
            } else if state.machine.phaseName != before.machine.phaseName {
                Issue.record("\(event) changes the phase of \(before.model)")
            }
            let waiting = state.machine.requests.map { index(of: $0.identifier) }
            if seen != expected || state.machine.phaseName != state.model.phase || waiting != state.model.queue {
                Issue.record("\(event) in \(before.model) did \(seen), not \(expected)")
            }
            return state
        }
        #expect(Set(states.map(\.machine.phaseName)) == Set(PeriodicSynchronizer.PhaseName.allCases))
        log.expectTransitions()
    }
}
