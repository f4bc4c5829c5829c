import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("The scanner state machine")
struct ScannerMachineTests {
    /// The longest one: then a silence that follows another one is not given more time.
    static let silenceLimit = Duration.seconds(3600)
    static let late = Instant.zero.advanced(by: .seconds(10_000))

    enum Event: Hashable {
        /// The application scans, for each report or for each device once, or on a PHY that the controller lacks.
        case scan(reportsDuplicates: Bool), scanOnMissingPHY
        case stop
        case search(Bool), follow(Bool)
        case advance(RadioArbiter.Verdict)
        case accepted, refused, answerUnclear
        case report, silence(at: Instant)
        case reset
    }

    static let events: [Event] = [
        .scan(reportsDuplicates: true), .scan(reportsDuplicates: false), .scanOnMissingPHY, .stop, .search(true),
        .search(false), .follow(true), .follow(false), .advance(.proceed), .advance(.wait), .advance(.stop),
        .advance(.suspended), .accepted, .refused, .answerUnclear, .report,
        .silence(at: .zero.advanced(by: silenceLimit)), .silence(at: late), .reset,
    ]

    enum Action: Hashable {
        case setParameters, enable, disable
        case reportFailure
        /// The host decides what becomes of a refusal.
        case reportRefusal
    }

    enum Activity { case idle, starting, running, stopping }

    /// The same in another way: marks, and the command that is with the controller.
    struct Model: Hashable {
        var wanted: ScanParameters?
        var isSearching = false
        var isFollowing = false
        var activity = Activity.idle
        var current: ScanParameters?
        var isEnabling = false
        var isCleared = false
        var watchdog = ScanWatchdog()
        var failures = 0

        var needed: ScanParameters? {
            guard isSearching || isFollowing else { return wanted }
            var parameters =
                wanted
                ?? ScanParameters(
                    isActive: false, interval: .milliseconds(60), window: .milliseconds(30), reportsDuplicates: false,
                    phys: .le1M)
            if isSearching { parameters.reportsDuplicates = true }
            if isFollowing { parameters.phys.formUnion(.le1M) }
            return parameters
        }

        mutating func apply(_ event: Event) -> [Action] {
            switch event {
            case .scan(let reportsDuplicates): wanted = ScanParameters(reportsDuplicates: reportsDuplicates)
            case .scanOnMissingPHY: wanted = ScanParameters(phys: .leCoded)
            case .stop: (wanted, watchdog) = (nil, ScanWatchdog())
            case .search(let isSearching): self.isSearching = isSearching
            case .follow(let isFollowing): self.isFollowing = isFollowing
            case .advance(let verdict): return advance(verdict)
            case .accepted, .refused, .answerUnclear: return answered(event)
            case .report: watchdog.reportReceived(at: Instant.zero.advanced(by: .seconds(3000)))
            case .silence(let now): if watchdog.fire(at: now), activity == .running { return disable() }
            case .reset: (activity, current, watchdog, failures, isCleared) = (.idle, nil, ScanWatchdog(), 0, false)
            }
            return []
        }

        private mutating func advance(_ verdict: RadioArbiter.Verdict) -> [Action] {
            guard verdict != .suspended else { return [] }
            if activity == .running { return needed == current && verdict != .stop ? [] : disable() }
            guard activity == .idle, verdict == .proceed, let needed else { return [] }
            guard !needed.phys.contains(.leCoded) else {
                if isSearching || isFollowing { failures += 1 }
                wanted = nil
                return [.reportFailure]
            }
            (activity, current, isEnabling) = (.starting, needed, false)
            return [.setParameters]
        }

        private mutating func disable() -> [Action] {
            (activity, current) = (.stopping, nil)
            watchdog.stop()
            return [.disable]
        }

        private mutating func answered(_ event: Event) -> [Action] {
            switch activity {
            case .idle, .running: return []
            case .stopping:
                (activity, isCleared) = (.idle, true)
                return []
            case .starting:
                if event == .refused, !isEnabling, !isCleared { return disable() }
                if event == .answerUnclear, isEnabling { return [.reportRefusal] + disable() }
                guard event == .accepted else {
                    (activity, current) = (.idle, nil)
                    return [.reportRefusal]
                }
                isCleared = true
                guard isEnabling else {
                    isEnabling = true
                    return [.enable]
                }
                (activity, isEnabling, failures) = (.running, false, 0)
                if current?.reportsDuplicates == true { watchdog.start(silenceLimit, at: .zero) }
                return []
            }
        }

        var phase: Scanner.PhaseName {
            switch activity {
            case .idle: .idle
            case .starting: .starting
            case .running: .running
            case .stopping: .stopping
            }
        }
    }

    struct State: Hashable {
        var machine = Scanner()
        var model = Model()
    }

    private func apply(_ event: Event, to machine: inout Scanner, _ model: Model) -> [Action] {
        switch event {
        case .scan(let reportsDuplicates): machine.start(ScanParameters(reportsDuplicates: reportsDuplicates))
        case .scanOnMissingPHY: machine.start(ScanParameters(phys: .leCoded))
        case .stop: machine.stop()
        case .search(let isSearching): _ = machine.search(isSearching)
        case .follow(let isFollowing): machine.follow(isFollowing ? .le1M : nil)
        case .advance(let verdict):
            return actions(machine.advance(verdict, ownAddressType: .public, RadioFeatures(), at: .zero))
        case .accepted: return answer(&machine, .success, model)
        case .refused: return answer(&machine, .commandDisallowed, model)
        case .answerUnclear: return answer(&machine, .unspecifiedError, model)
        case .report: machine.reportReceived(at: Instant.zero.advanced(by: .seconds(3000)))
        case .silence(let now): return actions(machine.fire(at: now))
        case .reset: machine.reset()
        }
        return []
    }

    /// Answers the command that must be with the controller.
    private func answer(_ machine: inout Scanner, _ status: HCIStatus, _ model: Model) -> [Action] {
        let step: Scanner.Step
        switch machine.phaseName {
        case .idle, .running: return []
        case .starting: step = model.isEnabling ? .enable : .setParameters
        case .stopping: step = .disable
        }
        switch machine.answered(step, status, silenceLimit: Self.silenceLimit, at: .zero) {
        case .effects(let effects): return actions(effects)
        case .refused(_, let effects): return [.reportRefusal] + actions(effects)
        }
    }

    private func actions(_ effects: [Effect]) -> [Action] {
        effects.compactMap { effect in
            switch effect {
            case .send(_, .scan(.setParameters)): .setParameters
            case .send(_, .scan(.enable)): .enable
            case .send(_, .scan(.disable)): .disable
            case .report(.controller(.scanningFailed)): .reportFailure
            case .send, .report: nil
            }
        }
    }

    /// The event's name in the table; nil for calls, and for reports.
    private func name(of event: Event) -> Scanner.EventName? {
        switch event {
        case .scan, .scanOnMissingPHY, .stop, .search, .follow, .report: nil
        case .advance: .advance
        case .accepted: .accepted
        case .refused: .refused
        case .answerUnclear: .answerUnclear
        case .silence: .silence
        case .reset: .reset
        }
    }

    @Test("Every event in every state matches the model and the transition table") func table() {
        var log = MachineTable<Scanner>()
        let states = explore(from: State(), Self.events) { before, event in
            var state = before
            let seen = apply(event, to: &state.machine, before.model)
            let expected = state.model.apply(event)
            // After two failures in a row it would wait.
            if state.model.failures > 1 { return nil }
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
        #expect(Set(states.map(\.machine.phaseName)) == Set(Scanner.PhaseName.allCases))
        log.expectTransitions()
    }
}

extension ScannerMachineTests.State {
    /// Whether the machine's answers agree with the model.
    fileprivate var isConsistent: Bool {
        let isOnAir = model.activity == .starting || model.activity == .running
        return machine.phaseName == model.phase && machine.isIdle == (model.activity == .idle)
            && machine.isWanted == (model.wanted != nil) && machine.isSearching == model.isSearching
            && machine.isListening == (isOnAir && (model.wanted != nil || model.isSearching))
            && machine.nextDeadline == model.watchdog.deadline
    }
}
