import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("The private address state machine")
struct PrivateAddressMachineTests {
    static let addresses = [
        DeviceAddress(0x40_00_00_00_00_01, kind: .random), DeviceAddress(0x40_00_00_00_00_02, kind: .random),
    ]
    static let rotation = Duration.seconds(900)
    static let now = Instant.zero.advanced(by: .seconds(10))
    static let later = now.advanced(by: .seconds(3600))

    enum Event: CaseIterable {
        case start, advance, advanceWithoutKey, accepted, rejected, renew, expire, expireEarly, reset
    }

    /// The same in another way: an address, a deadline and two marks, and no phases.
    struct Model: Hashable {
        var isUp = false
        var address: DeviceAddress?
        var deadline: Instant?
        var isDue = false
        var inFlight: DeviceAddress?

        var next: DeviceAddress { address == addresses[0] ? addresses[1] : addresses[0] }

        /// - Returns: the address that the controller must learn.
        mutating func apply(_ event: Event) -> DeviceAddress? {
            switch event {
            case .reset: self = Model()
            case .start: if !isUp { (isUp, isDue) = (true, true) }
            case .renew: if isUp { isDue = true }
            case .expire:
                guard deadline != nil else { return nil }
                (deadline, isDue) = (nil, true)
            case .advance:
                guard isDue, inFlight == nil else { return nil }
                (isDue, inFlight) = (false, next)
                return inFlight
            case .accepted, .rejected:
                guard let new = inFlight else { return nil }
                if event == .accepted { address = new }
                inFlight = nil
                deadline = now.advanced(by: event == .accepted ? rotation : .seconds(1))
            case .advanceWithoutKey, .expireEarly: break
            }
            return nil
        }

        var phase: PrivateAddress.PhaseName {
            if !isUp { return .absent }
            if inFlight != nil { return isDue ? .settingOutdated : .setting }
            if isDue { return .due }
            return address == nil ? .refused : .inUse
        }
    }

    struct State: Hashable {
        var machine = PrivateAddress()
        var model = Model()
    }

    private func apply(_ event: Event, to machine: inout PrivateAddress, _ next: DeviceAddress) -> DeviceAddress? {
        switch event {
        case .start: machine.start()
        case .advance: return machine.advance { next }
        case .advanceWithoutKey: return machine.advance { nil }
        case .accepted: machine.answered(true, rotation: Self.rotation, at: Self.now)
        case .rejected: machine.answered(false, rotation: Self.rotation, at: Self.now)
        case .renew: machine.renew()
        case .expire: machine.fire(at: Self.later)
        case .expireEarly: machine.fire(at: Self.now)
        case .reset: machine.reset()
        }
        return nil
    }

    private func name(of event: Event) -> PrivateAddress.EventName {
        switch event {
        case .start: .start
        case .advance, .advanceWithoutKey: .advance
        case .accepted: .accepted
        case .rejected: .rejected
        case .renew: .renew
        case .expire, .expireEarly: .expire
        case .reset: .reset
        }
    }

    @Test("Every event in every state matches the model and the transition table") func table() {
        var log = MachineTable<PrivateAddress>()
        let states = explore(from: State(), Event.allCases) { before, event in
            var state = before
            let address = apply(event, to: &state.machine, before.model.next)
            let expected = state.model.apply(event)
            log.note(name(of: event), from: before.machine, to: state.machine, hasEffects: address != nil)
            let (machine, model) = (state.machine, state.model)
            #expect(address == expected, "\(event) in \(before)")
            #expect(machine.phaseName == model.phase, "\(event) in \(before)")
            #expect(machine.current == model.address, "\(event) in \(before)")
            #expect(machine.nextDeadline == model.deadline, "\(event) in \(before)")
            #expect(machine.isBeingSet == (model.inFlight != nil), "\(event) in \(before)")
            // The radio stays idle for an address that is due, and as long as there is none.
            let isPending = model.isUp && (model.isDue || model.inFlight != nil || model.address == nil)
            #expect(machine.isPending == isPending, "\(event) in \(before)")
            return state
        }
        #expect(Set(states.map(\.machine.phaseName)) == Set(PrivateAddress.PhaseName.allCases))
        log.expectTransitions()
    }
}
