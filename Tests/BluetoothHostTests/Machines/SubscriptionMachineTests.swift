import BluetoothATT
import BluetoothBase
import BluetoothGATT
import TestSupport
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

@Suite("A subscription to a characteristic, event by event")
struct SubscriptionMachineTests {
    typealias Machine = Subscription

    private static let request = SubscriptionRequest(characteristic: 3, end: 5, configuration: .notifications)
    private static let error = HostError.timedOut

    /// Two users subscribe with one call each, and unsubscribe with another one.
    private enum User: UInt32, CaseIterable {
        case first = 1
        case second = 2

        var subscribing: UserCall { UserCall(UInt64(rawValue), of: rawValue) }
        var unsubscribing: UserCall { UserCall(UInt64(rawValue) + 10, of: rawValue) }
    }

    private enum Answer: CaseIterable { case found, foundNone, written, failed }

    private enum Event: Hashable {
        case add(User)
        case remove(User), cancel(User), forget(User)
        case begin
        case answered(Answer, descriptor: AttributeHandle?, mayAsk: Bool)
        case wantChanged(descriptor: AttributeHandle?, mayAsk: Bool)
    }

    private static let contexts: [(descriptor: AttributeHandle?, mayAsk: Bool)] = [
        (nil, true), (5, true), (nil, false), (5, false),
    ]

    private static let events: [Event] =
        User.allCases.flatMap { [.add($0), .remove($0), .cancel($0), .forget($0)] } + [.begin]
        + contexts.flatMap { context -> [Event] in
            Answer.allCases.map { .answered($0, descriptor: context.descriptor, mayAsk: context.mayAsk) }
                + [.wantChanged(descriptor: context.descriptor, mayAsk: context.mayAsk)]
        }

    // MARK: - Another account of it

    /// The request that the peer has, what it was last asked to write, and the users.
    private struct Model: Hashable {
        enum Asked: Hashable { case descriptors, on, off }

        struct Holder: Hashable {
            let user: User
            /// Whether the user knows that values are its own, and whether its call has ended.
            var hasBegun = false
            var isConfirmed = false
        }

        var asked: Asked?
        var isOn = false
        var holders: [Holder] = []
        var leaving: [User] = []

        var phase: Machine.PhaseName {
            switch asked {
            case nil: isOn ? .on : .off
            case .descriptors: .finding
            case .on: .enabling
            case .off: .disabling
            }
        }

        mutating func remove(_ user: User) -> [Machine.Effect] {
            defer { holders.removeAll { $0.user == user } }
            return holders.contains { $0.user == user && !$0.isConfirmed }
                ? [.end(user.subscribing, .failure(.cancelled))] : []
        }

        mutating func begin() -> [Machine.Effect] {
            let began = holders.filter { !$0.hasBegun }
            for index in holders.indices { holders[index].hasBegun = true }
            return began.map { .began($0.user.subscribing) }
        }

        mutating func answered(
            _ answer: Answer, _ known: AttributeHandle?, mayAsk: Bool
        ) -> [Machine.Effect] {
            guard let asked else { return [] }
            self.asked = nil
            var effects: [Machine.Effect] = []
            var descriptor = known
            switch asked {
            case .descriptors where answer == .found:
                descriptor = 5
                effects = [.learned(descriptor: 5, of: 3)]
            case .descriptors: effects = refused(answer)
            case .on where answer == .failed: effects = refused(answer)
            case .on:
                isOn = true
                effects = confirm()
            case .off:
                isOn = false
                effects = left(answer == .failed ? .failure(error) : .success(.done))
            }
            return effects + step(descriptor, mayAsk: mayAsk)
        }

        /// One step towards the wanted state.
        mutating func step(_ descriptor: AttributeHandle?, mayAsk: Bool) -> [Machine.Effect] {
            guard mayAsk, asked == nil else { return [] }
            switch (isOn, holders.isEmpty, descriptor) {
            case (true, true, nil):
                // Nothing is left that could be asked to end it.
                isOn = false
                return left(.success(.done)) + [.over]
            case (true, true, let descriptor?):
                asked = .off
                return [.start(.configure(descriptor: descriptor, []), of: 3)]
            case (true, false, _): return confirm() + left(.success(.done))
            case (false, true, _): return left(.success(.done)) + [.over]
            case (false, false, nil):
                asked = .descriptors
                return left(.success(.done)) + [.start(.discoverDescriptors(in: 4...5), of: 3)]
            case (false, false, let descriptor?):
                asked = .on
                return left(.success(.done))
                    + [.start(.configure(descriptor: descriptor, .notifications), of: 3)]
            }
        }

        private mutating func refused(_ answer: Answer) -> [Machine.Effect] {
            defer { holders = [] }
            let reason = answer == .failed ? error : .notFound(.clientCharacteristicConfiguration)
            return holders.filter { !$0.isConfirmed }.map { .end($0.user.subscribing, .failure(reason)) }
        }

        private mutating func confirm() -> [Machine.Effect] {
            let began = begin()
            let confirmed = holders.filter { !$0.isConfirmed }
            for index in holders.indices { holders[index].isConfirmed = true }
            return began + confirmed.map { .end($0.user.subscribing, .success(.done)) }
        }

        private mutating func left(_ result: Result<CallResult, HostError>) -> [Machine.Effect] {
            defer { leaving = [] }
            return leaving.map { .end($0.unsubscribing, result) }
        }
    }

    private struct State: Hashable {
        var machine = Machine(request)
        var model = Model()
    }

    // MARK: - Comparison

    private static func event(_ answer: Answer) -> Machine.Event {
        switch answer {
        case .found: .found([DiscoveredDescriptor(uuid: .clientCharacteristicConfiguration, handle: 5)])
        case .foundNone: .found([DiscoveredDescriptor(uuid: BluetoothUUID(0x2901), handle: 4)])
        case .written: .written
        case .failed: .failed(error)
        }
    }

    private static func name(_ event: Event) -> Machine.EventName? {
        switch event {
        case .add, .remove, .cancel, .forget, .begin: nil
        case .answered(.found, _, _), .answered(.foundNone, _, _): .found
        case .answered(.written, _, _): .written
        case .answered(.failed, _, _): .failed
        case .wantChanged: .wantChanged
        }
    }

    /// Nil where the event cannot happen: a call is made once.
    private func effects(
        of event: Event, _ state: inout State
    ) -> (effects: [Machine.Effect], expected: [Machine.Effect])? {
        let model = state.model
        switch event {
        case .add(let user):
            guard !model.holders.contains(where: { $0.user == user }) else { return nil }
            state.machine.add(user.subscribing)
            state.model.holders.append(Model.Holder(user: user))
            return ([], [])
        case .remove(let user):
            guard model.holders.contains(where: { $0.user == user }), !model.leaving.contains(user) else { return nil }
            state.model.leaving.append(user)
            let expected = state.model.remove(user)
            return (state.machine.remove(where: { $0 == user.subscribing }, for: user.unsubscribing), expected)
        case .cancel(let user):
            return (state.machine.remove(where: { $0 == user.subscribing }), state.model.remove(user))
        case .forget(let user):
            state.machine.forget(user.subscribing.user)
            state.model.holders.removeAll { $0.user == user }
            state.model.leaving.removeAll { $0 == user }
            return ([], [])
        case .begin: return (state.machine.begin(), state.model.begin())
        case .answered(let answer, let descriptor, let mayAsk):
            return (
                state.machine.handle(Self.event(answer), descriptor: descriptor, mayAsk: mayAsk),
                state.model.answered(answer, descriptor, mayAsk: mayAsk)
            )
        case .wantChanged(let descriptor, let mayAsk):
            return (
                state.machine.handle(.wantChanged, descriptor: descriptor, mayAsk: mayAsk),
                state.model.step(descriptor, mayAsk: mayAsk)
            )
        }
    }

    /// Compares the answers to questions, and what the end of the link would do.
    private func isSame(_ state: State) -> Bool {
        let (machine, model) = (state.machine, state.model)
        let caller = model.holders.first?.user.subscribing ?? model.leaving.first?.unsubscribing
        let ended: [Machine.Effect] =
            model.holders.filter { !$0.isConfirmed }.map { .end($0.user.subscribing, .failure(Self.error)) }
            + model.leaving.map { .end($0.unsubscribing, .success(.done)) }
        let users = User.allCases.allSatisfy { user in
            let isHolder = model.holders.contains { $0.user == user }
            let receives = isHolder && model.phase != .disabling || model.leaving.contains(user)
            return machine.concerns(user.subscribing.user) == receives
                && machine.isHeld(by: user.subscribing) == isHolder
                && machine.isHeld(by: user.subscribing.user) == isHolder
        }
        // A value is routed to the sole user without asking each user, so it must be the only one that receives it.
        let receivers = User.allCases.map(\.subscribing.user).filter { machine.concerns($0) }
        let isAlone = model.phase == .on && receivers.count == 1 && model.leaving.isEmpty
        let isSoleUserKnown = machine.soleUser == (isAlone ? receivers.first : nil)
        return users && isSoleUserKnown && machine.phaseName == model.phase && machine.caller == caller
            && machine.isEnabling == (model.phase == .enabling)
            && machine.settledCharacteristic == (model.phase == .on ? 3 : 0)
            && "\(machine.ended(Self.error, leaving: .success(.done)))" == "\(ended)"
    }

    @Test("Every event in every phase, with two users, a known and an unknown descriptor, and an ending link")
    func table() {
        var table = MachineTable<Machine>()
        let states = explore(from: State(), Self.events) { before, event in
            var state = before
            guard let (effects, expected) = effects(of: event, &state) else { return nil }
            // Results of calls have no other equality.
            if "\(effects)" != "\(expected)" {
                Issue.record("\(event) in \(before.model) gives \(effects), not \(expected)")
            }
            if !isSame(state) { Issue.record("\(event) leads to \(state.machine), not to \(state.model)") }
            if let name = Self.name(event) {
                table.note(name, from: before.machine, to: state.machine, hasEffects: !effects.isEmpty)
            } else if before.machine.phaseName != state.machine.phaseName {
                Issue.record("\(event) changes the phase of \(before.model)")
            }
            return state
        }
        #expect(Set(states.map(\.machine.phaseName)) == Set(Machine.PhaseName.allCases))
        table.expectTransitions()
    }
}
