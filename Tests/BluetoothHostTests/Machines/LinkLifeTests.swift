import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("The lifecycle of a link, event by event")
struct LinkLifeTests {
    typealias Machine = LinkLife

    private static let attempt = Initiator.Attempt(
        identifier: ConnectionAttempt(number: 7), peer: PeerID(DeviceAddress(0xC0_FFEE, kind: .public)),
        deadline: nil, route: .advertising(.le1M))

    private static let closings: [Machine.Closing] = [
        .requested, .bearerExpired, .overwhelmed, .encryptionFailed(.pinOrKeyMissing), .shutDown,
    ]

    private enum Event: Hashable {
        case established, attemptResumed, overwhelmed
        case closed(Machine.Closing, reason: HCIStatus?)

        var name: Machine.EventName {
            switch self {
            case .established: .established
            case .attemptResumed: .attemptResumed
            case .overwhelmed: .overwhelmed
            case .closed: .closed
            }
        }
    }

    private static let events: [Event] =
        [.established, .attemptResumed, .overwhelmed]
        + closings.flatMap { [.closed($0, reason: nil), .closed($0, reason: .remoteDevicePowerOff)] }

    /// Facts in place of phases.
    private struct Model: Hashable {
        var hasAttempt: Bool
        var isEstablished = false
        var isOverwhelmed = false
        /// The first reason to end the link, and the one that prevails.
        var closing: Machine.Closing?

        var phase: Machine.PhaseName {
            guard isEstablished else { return closing == nil ? .establishing : .dismissed }
            if closing != nil { return .closing }
            return isOverwhelmed ? .overwhelmed : .open
        }

        /// The reason sent to the peer, without one of the caller's.
        private static func sent(_ closing: Machine.Closing) -> HCIStatus {
            switch closing {
            case .requested, .bearerExpired, .shutDown: .remoteUserTerminatedConnection
            case .overwhelmed: .remoteDeviceLowResources
            case .encryptionFailed: .authenticationFailure
            }
        }

        mutating func close(_ new: Machine.Closing, _ reason: HCIStatus?) -> HCIStatus? {
            guard let closing else {
                closing = new
                hasAttempt = false
                return reason ?? Self.sent(new)
            }
            if closing == .requested, isEstablished { self.closing = new }
            return nil
        }

        func ending(_ reason: HCIStatus) -> Machine.Ending {
            guard isEstablished else { return hasAttempt ? .notEstablished(LinkLifeTests.attempt) : .unknown }
            switch closing {
            case .bearerExpired: return .disconnected(.llResponseTimeout)
            case .overwhelmed: return .disconnected(.memoryCapacityExceeded)
            case .encryptionFailed(let status): return .disconnected(status)
            case .requested, .shutDown: return .disconnected(reason)
            case nil: return .disconnected(isOverwhelmed ? .memoryCapacityExceeded : reason)
            }
        }

        var overdue: Machine.Overdue? {
            switch phase {
            case .establishing: .firstPacket
            case .open: nil
            case .overwhelmed: .end
            case .closing, .dismissed: .report
            }
        }
    }

    private struct State: Hashable {
        var machine: Machine
        var model: Model
    }

    private func apply(_ event: Event, to state: State, _ table: inout MachineTable<Machine>) -> State {
        var next = state
        var hasEffects = false
        switch event {
        case .established:
            let isExpected = state.model.phase == .establishing
            if isExpected { (next.model.isEstablished, next.model.hasAttempt) = (true, false) }
            let (hasOpened, attempt) = next.machine.establish()
            #expect(hasOpened == isExpected)
            #expect(attempt == (isExpected && state.model.hasAttempt ? Self.attempt.identifier : nil))
        case .attemptResumed:
            let taken = next.machine.takeAttempt()
            #expect(taken == (state.model.hasAttempt ? Self.attempt : nil))
            next.model.hasAttempt = false
            hasEffects = taken != nil
        case .overwhelmed:
            next.machine.overwhelm()
            if state.model.phase == .open { next.model.isOverwhelmed = true }
        case .closed(let closing, let reason):
            let sent = next.machine.close(closing, reason: reason, supervisionTimeout: .seconds(2), at: .zero)
            let expected = next.model.close(closing, reason)
            #expect(sent == expected, "\(event) in \(state.model)")
            hasEffects = sent != nil
        }
        compare(next, after: event)
        table.note(event.name, from: state.machine, to: next.machine, hasEffects: hasEffects)
        return next
    }

    private func compare(_ state: State, after event: Event?) {
        let (machine, model) = (state.machine, state.model)
        let phase = model.phase
        let late = Instant.zero.advanced(by: .seconds(60))
        let takesFrames = phase == .open || phase == .closing && ![.overwhelmed, .shutDown].contains(model.closing)
        let isSame =
            machine.phaseName == phase && machine.attempt == (model.hasAttempt ? Self.attempt : nil)
            && machine.isAnnounced == model.isEstablished && machine.isEnding == (model.closing != nil)
            && machine.isOpen == (phase == .open) && machine.isOverwhelmed == (phase == .overwhelmed)
            && machine.takesFrames == takesFrames && machine.overdue(at: late) == model.overdue
            && machine.ending(.connectionTimeout) == model.ending(.connectionTimeout)
        if !isSame { Issue.record("\(event.map { "\($0)" } ?? "the beginning") leads to \(machine), not to \(model)") }
    }

    @Test func `every event in every phase has the effects of the model, on both sides`() {
        var table = MachineTable<Machine>()
        for attempt in [Self.attempt, nil] {
            let first = State(
                machine: Machine(attempt, establishedUntil: Instant.zero.advanced(by: .seconds(1))),
                model: Model(hasAttempt: attempt != nil))
            compare(first, after: nil)
            let states = explore(from: first, Self.events) { apply($1, to: $0, &table) }
            #expect(Set(states.map(\.model.phase)) == Set(Machine.PhaseName.allCases))
        }
        table.expectTransitions()
    }

    @Test func `nothing is overdue before the deadline`() {
        var life = Machine(nil, establishedUntil: Instant.zero.advanced(by: .seconds(1)))
        #expect(life.overdue(at: Instant.zero.advanced(by: .milliseconds(999))) == nil)
        #expect(life.overdue(at: Instant.zero.advanced(by: .seconds(1))) == .firstPacket)
        _ = life.establish()
        #expect(life.deadline == nil)
        // The controller gets five seconds more than it needs to notice that the peer is out of range.
        _ = life.close(.requested, supervisionTimeout: .seconds(2), at: Instant.zero.advanced(by: .seconds(10)))
        #expect(life.deadline == Instant.zero.advanced(by: .seconds(17)))
        #expect(life.overdue(at: Instant.zero.advanced(by: .milliseconds(16_999))) == nil)
        #expect(life.overdue(at: Instant.zero.advanced(by: .seconds(17))) == .report)
    }
}
