import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("The initiator state machine")
struct InitiatorMachineTests {
    static let peers = [PeerID(DeviceAddress(1, kind: .public)), PeerID(DeviceAddress(2, kind: .public))]
    static let table = PeerTable()
    /// After a turn, and after the time for a cancelled connection.
    static let late = Instant.zero.advanced(by: .seconds(10))

    enum Event: Hashable {
        case add(Int), remove(Int)
        case advance(RadioArbiter.Verdict, hasAcceptList: Bool)
        case accepted, refused
        case unexplained(isDisallowed: Bool)
        case listRefused, cancelRefused
        case connected(Int)
        case notEstablished(Int), endedUncalled, failed
        case expire, reset

        /// The event's name in the table; nil for calls.
        var name: Initiator.EventName? {
            switch self {
            case .add, .remove: nil
            case .advance: .advance
            case .accepted: .accepted
            case .refused: .refused
            case .unexplained: .unexplained
            case .listRefused: .listRefused
            case .cancelRefused: .cancelRefused
            case .connected: .connected
            case .notEstablished, .endedUncalled, .failed: .failed
            case .expire: .expire
            case .reset: .reset
            }
        }
    }

    static let events: [Event] =
        [0, 1].flatMap { [.add($0), .remove($0), .connected($0), .notEstablished($0)] }
        + [RadioArbiter.Verdict.proceed, .wait, .stop, .suspended].flatMap {
            [.advance($0, hasAcceptList: false), .advance($0, hasAcceptList: true)]
        } + [
            .accepted, .refused, .unexplained(isDisallowed: true), .unexplained(isDisallowed: false), .listRefused,
            .cancelRefused, .endedUncalled, .failed, .expire, .reset,
        ]

    enum Action: Hashable {
        case clearList, addToList, create, cancel
        case reportFailure(Int)
        case take(Int)
        /// The host decides what becomes of a refusal.
        case reportRefusal
    }

    enum Activity { case idle, initiating, cancelling }

    /// The same in another way: a queue, and marks for everything else.
    struct Model: Hashable {
        struct Attempt: Hashable {
            let peer: Int
            var failures = 0
        }

        var queue: [Attempt] = []
        var activity = Activity.idle
        var targets: [Int] = []
        /// Whether others wait for the end of the turn.
        var hasTurn = false
        var blocksOthers = false
        var refusals = 0
        var isListUnusable = false
        var failures = 0
        /// The peers of the refusal that the host has just learned of.
        var refused: [Int]?

        mutating func apply(_ event: Event) -> [Action] {
            let refused = refused
            self.refused = nil
            defer { if activity != .initiating { (targets, hasTurn) = ([], false) } }
            switch event {
            case .add(let peer): queue.append(Attempt(peer: peer))
            case .remove(let peer): queue.removeAll { $0.peer == peer }
            case .advance(let verdict, let hasAcceptList): return advance(verdict, hasAcceptList)
            case .accepted: if activity == .initiating { refusals = 0 }
            case .refused:
                guard activity == .initiating else { return [] }
                (activity, self.refused) = (.idle, targets)
                return [.reportRefusal]
            case .unexplained(let isDisallowed):
                guard isDisallowed, refusals < 2 else {
                    refusals = 0
                    return fail(refused ?? [])
                }
                refusals += 1
                return cancel()
            case .listRefused: isListUnusable = true
            case .cancelRefused: if activity == .cancelling { activity = .idle }
            case .connected(let peer):
                defer { activity = .idle }
                guard queue.contains(where: { $0.peer == peer }) else {
                    if activity == .initiating { failures += 1 }
                    return []
                }
                queue.removeAll { $0.peer == peer }
                failures = 0
                return [.take(peer)]
            case .notEstablished, .endedUncalled, .failed: return ended(event)
            case .expire:
                if activity == .cancelling { activity = .idle }
                guard hasTurn else { return [] }
                hasTurn = false
                queue = queue.filter { !targets.contains($0.peer) } + queue.filter { targets.contains($0.peer) }
            case .reset: (activity, blocksOthers, refusals, isListUnusable, failures) = (.idle, false, 0, false, 0)
            }
            return []
        }

        private mutating func advance(_ verdict: RadioArbiter.Verdict, _ hasAcceptList: Bool) -> [Action] {
            guard verdict != .suspended else { return [] }
            let candidates = verdict == .stop ? [] : queue.map(\.peer)
            let wanted = Array(candidates.prefix(hasAcceptList && !isListUnusable ? 2 : 1))
            let othersWait = wanted.count < candidates.count
            switch activity {
            case .cancelling: return []
            case .initiating:
                guard wanted == targets else { return cancel() }
                hasTurn = othersWait
                return []
            case .idle:
                if wanted.isEmpty { blocksOthers = false }
                guard !wanted.isEmpty, verdict == .proceed else { return [] }
                (activity, targets, hasTurn, blocksOthers) = (.initiating, wanted, othersWait, true)
                return wanted.count == 1 ? [.create] : [.clearList, .addToList, .addToList, .create]
            }
        }

        private mutating func cancel() -> [Action] {
            activity = .cancelling
            return [.cancel]
        }

        private mutating func fail(_ peers: [Int]) -> [Action] {
            let failed = peers.filter { peer in queue.contains { $0.peer == peer } }
            queue.removeAll { failed.contains($0.peer) }
            return failed.map { .reportFailure($0) }
        }

        private mutating func ended(_ event: Event) -> [Action] {
            defer { activity = .idle }
            guard activity == .initiating else { return [] }
            guard event != .failed else { return fail(targets) }
            guard case .notEstablished(let named) = event, targets.count == 1 || targets.contains(named),
                let index = queue.firstIndex(where: { $0.peer == (targets.count == 1 ? targets[0] : named) })
            else {
                failures += 1
                return []
            }
            var attempt = queue.remove(at: index)
            attempt.failures += 1
            if attempt.failures > 1 { return [.reportFailure(attempt.peer)] }
            queue.append(attempt)
            return []
        }

        var phase: Initiator.PhaseName {
            switch activity {
            case .idle: .idle
            case .initiating: .initiating
            case .cancelling: .cancelling
            }
        }
    }

    struct State: Hashable {
        var machine = Initiator()
        var model = Model()
    }

    private func apply(_ event: Event, to machine: inout Initiator, _ model: Model) -> [Action] {
        switch event {
        case .add(let peer):
            machine.resume(
                Initiator.Attempt(
                    identifier: identifier(of: peer), peer: Self.peers[peer], deadline: nil,
                    route: .advertising(.le1M)))
        case .remove(let peer): _ = machine.remove(identifier(of: peer))
        case .advance(let verdict, let hasAcceptList):
            let candidates = machine.candidates(in: Self.table) { _ in
                true
            } isLinked: { _ in
                false
            } address: {
                $0.firstAddress
            }
            let settings = Initiator.Settings(
                ownAddressType: .public, connectionParameters: HostConfiguration(seed: 1).connectionParameters,
                acceptListSize: hasAcceptList ? 8 : 0, radio: RadioFeatures())
            return actions(machine.advance(verdict, candidates.targets, settings, at: .zero))
        case .accepted: return answer(&machine, .create, .success)
        case .refused: return answer(&machine, .create, .commandDisallowed)
        case .unexplained(let isDisallowed):
            let status: HCIStatus = isDisallowed ? .commandDisallowed : .memoryCapacityExceeded
            let targets = (model.refused ?? []).map { target($0) }
            return actions(machine.refused(targets, status, in: Self.table, at: .zero))
        case .listRefused: return answer(&machine, .addToAcceptList, .memoryCapacityExceeded)
        case .cancelRefused: return answer(&machine, .cancel, .commandDisallowed)
        case .connected(let peer):
            let attempt = machine.connectionMade(with: Self.peers[peer], in: Self.table, at: .zero)
            return attempt.map { [.take(index(of: $0.identifier))] } ?? []
        case .notEstablished(let peer): return fail(&machine, .connectionFailedToBeEstablished, Self.peers[peer])
        case .endedUncalled: return fail(&machine, .unknownConnectionIdentifier, nil)
        case .failed: return fail(&machine, .hardwareFailure, nil)
        case .expire: return actions(machine.fire(in: Self.table, at: Self.late))
        case .reset: machine.reset()
        }
        return []
    }

    private func answer(_ machine: inout Initiator, _ step: Initiator.Step, _ status: HCIStatus) -> [Action] {
        switch machine.answered(step, status) {
        case .effects(let effects): actions(effects)
        case .refused: [.reportRefusal]
        }
    }

    private func fail(_ machine: inout Initiator, _ status: HCIStatus, _ peer: PeerID?) -> [Action] {
        actions(machine.connectionFailed(status, with: peer, in: Self.table, retries: 1, at: .zero))
    }

    private func identifier(of peer: Int) -> ConnectionAttempt { ConnectionAttempt(number: UInt32(peer)) }

    private func index(of identifier: ConnectionAttempt) -> Int { Int(identifier.number) }

    private func target(_ peer: Int) -> Initiator.Target {
        Initiator.Target(
            peer: Self.peers[peer], address: Self.peers[peer].firstAddress, route: .advertising(.le1M))
    }

    private func actions(_ effects: [Effect]) -> [Action] {
        effects.compactMap { effect in
            switch effect {
            case .send(_, .none): .clearList
            case .send(_, .connect(.addToAcceptList)): .addToList
            case .send(_, .connect(.create)): .create
            case .send(_, .connect(.cancel)): .cancel
            case .report(.controller(.connectionFailed(let attempt, _))): .reportFailure(index(of: attempt))
            case .send, .report: nil
            }
        }
    }

    @Test("Every event in every state matches the model and the transition table") func table() {
        var log = MachineTable<Initiator>()
        let states = explore(from: State(), Self.events) { before, event in
            switch event {
            // There is one attempt at each peer.
            case .add(let peer) where before.model.queue.contains { $0.peer == peer }: return nil
            case .unexplained where before.model.refused == nil: return nil
            default: break
            }
            var state = before
            let seen = apply(event, to: &state.machine, before.model)
            let expected = state.model.apply(event)
            // After two failures in a row it would wait.
            if state.model.failures > 1 { return nil }
            if let name = event.name {
                log.note(name, from: before.machine, to: state.machine, hasEffects: !seen.isEmpty)
            } else if state.machine.phaseName != before.machine.phaseName {
                Issue.record("\(event) changes the phase of \(before.model)")
            }
            if seen != expected || !state.isConsistent {
                Issue.record("\(event) in \(before.model) did \(seen), not \(expected)")
            }
            return state
        }
        #expect(Set(states.map(\.machine.phaseName)) == Set(Initiator.PhaseName.allCases))
        log.expectTransitions()
    }
}

extension InitiatorMachineTests.State {
    /// Whether the machine's answers agree with the model.
    fileprivate var isConsistent: Bool {
        machine.phaseName == model.phase && machine.isIdle == (model.activity == .idle)
            && machine.isCancelling == (model.activity == .cancelling)
            && machine.blocksOtherActivities == model.blocksOthers && machine.attemptCount == model.queue.count
    }
}
