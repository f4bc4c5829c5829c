import BluetoothATT
import BluetoothGATT
import TestSupport
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

@Suite("The cache of a peer's attributes, event by event")
struct AttributeCachingMachineTests {
    typealias Machine = AttributeCaching

    private struct State: Hashable {
        var machine = Machine()
        var model = Model()
    }

    // MARK: - Comparison

    /// Applies an event to both, and compares what they do.
    private func apply(_ event: Event, to state: inout State) -> (Machine.EventName, hasEffects: Bool) {
        let before = state.model
        let name: Machine.EventName, effects: [Machine.Effect], expected: [Machine.Effect]
        switch event {
        case .admit(let isDiscovery, let asker, let trust):
            let operation: GATTClientOperation = isDiscovery ? .discoverPrimaryServices() : .read(3)
            let dependsOnTrust = state.machine.dependsOnTrust(operation)
            let admission = state.machine.admit(operation, asker.purpose, trust.trust)
            let expected = state.model.admit(isDiscovery: isDiscovery, asker, trust)
            if admission != expected || dependsOnTrust != (!before.isAsked && isDiscovery) {
                Issue.record("\(event) in \(before) gives \(admission), not \(expected)")
            }
            return (.admit, admission != .goesOn)
        case .hashRead(let result, let kept):
            name = .hashRead
            // Kept of a server without a hash: 3.
            let attributes = kept == 0 ? nil : Self.kept([Self.one], kept == 3 ? nil : UInt128(kept))
            effects = state.machine.hashRead(result.result, Self.context(.begun), kept: attributes)
            expected = state.model.hashRead(result, kept: kept)
        case .learn(let asker, let isDiscovery, let isOld, let preparation):
            name = .learn
            let operation = PendingOperation(
                1, isDiscovery ? .discoverPrimaryServices() : .read(3), asker.purpose,
                dropCount: before.drops &- (isOld ? 1 : 0))
            let result: GATTClientResult = isDiscovery ? .services([Self.one]) : .value([1])
            effects = state.machine.learn(result, of: operation, Self.context(preparation))
            expected = state.model.learn(asker, isDiscovery: isDiscovery, isOld: isOld, preparation)
        case .verify:
            name = .verify
            effects = state.machine.verify()
            expected = before.isUnverified ? state.model.readAgain() : []
        case .verifyAfterSubscribing:
            name = .verifyAfterSubscribing
            effects = state.machine.verifyAfterSubscribing()
            expected = before.hash != nil && !before.isReading ? state.model.readAgain() : []
        case .useFound(let preparation):
            name = .useFound
            effects = state.machine.useFound(Self.context(preparation))
            expected = state.model.useFound(preparation)
        case .drop:
            name = .drop
            effects = state.machine.drop()
            expected = state.model.drop()
        }
        if effects != expected { Issue.record("\(event) in \(before) gives \(effects), not \(expected)") }
        return (name, !effects.isEmpty)
    }

    private func compare(_ state: State, after event: Event) {
        let (machine, model) = (state.machine, state.model)
        let changes: ClosedRange<AttributeHandle>? = model.isTold ? 1...6 : nil
        let isSame =
            machine.phaseName == model.phase && machine.lasting == model.lasting && machine.dropCount == model.drops
            && machine.answer(to: .discoverPrimaryServices()) == model.known.map { .services($0) }
            && machine.answer(to: .read(3)) == nil && machine.changes(to: [Self.other]) == changes
            && machine.changes(to: [Self.one]) == nil
            && [false, true].allSatisfy {
                machine.mayHaveMissedChange(isDiscovering: $0) == model.mayHaveMissedChange(isDiscovering: $0)
            }
        if !isSame { Issue.record("\(event) leads to \(machine), not to \(model)") }
    }

    @Test("Every event in every phase that the rest of the link makes possible")
    func table() {
        var table = MachineTable<Machine>()
        let states = explore(from: State(), Self.events) { before, event in
            var state = before
            let (name, hasEffects) = apply(event, to: &state)
            compare(state, after: event)
            // What was found may grow without a step.
            if before.machine.phaseName != state.machine.phaseName || hasEffects {
                table.note(name, from: before.machine, to: state.machine, hasEffects: hasEffects)
            }
            // After two drops, and a second answer to a user, nothing new follows.
            return state.model.drops < 3 && !Self.repeats(event, before.model) ? state : nil
        }
        #expect(Set(states.map(\.machine.phaseName)) == Set(Machine.PhaseName.allCases))
        table.expectTransitions()
    }

    /// Whether an event only lengthens the list of answers that users got.
    private static func repeats(_ event: Event, _ model: Model) -> Bool {
        guard case .learn(.call, isDiscovery: true, isOld: _, let preparation) = event else { return false }
        return model.isTold && preparation.mayMissChange
    }

    @Test("A Database Hash is read as a little-endian number")
    func octets() {
        var caching = AttributeCaching()
        let context = AttributeCaching.Context(LinkPreparation(isChangeWatched: true))
        _ = caching.admit(.discoverPrimaryServices(), .preparation, .unbonded)
        let octets = (1...16).map { UInt8($0) }
        _ = caching.hashRead(.success(.values([AttributeValue(handle: 9, value: octets)])), context, kept: nil)
        let operation = PendingOperation(1, .discoverPrimaryServices(), .preparation)
        #expect(
            caching.learn(.services([Self.one]), of: operation, context)
                == [.keep(Self.kept([Self.one], 0x100F_0E0D_0C0B_0A09_0807_0605_0403_0201))])
    }
}
