import BluetoothATT
import BluetoothBase
import BluetoothGATT
import TestSupport
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

@Suite("The preparation of a link, step by step")
struct LinkPreparationMachineTests {
    typealias Machine = LinkPreparation

    // MARK: - The peer

    private static let generic = DiscoveredService(uuid: .genericAttribute, startHandle: 1, endHandle: 4)
    private static let battery = DiscoveredService(uuid: BluetoothUUID(0x180F), startHandle: 5, endHandle: 9)

    private static func characteristic(end: AttributeHandle) -> GATTClientResult {
        .characteristics([
            DiscoveredCharacteristic(
                uuid: .serviceChanged, declarationHandle: 2, valueHandle: 3, endHandle: end, properties: .indicate)
        ])
    }

    private static let answers: [GATTClientResult] = [
        .services([generic]), .services([battery]), .values([AttributeValue(handle: 6, value: [0x41, 0x42])]),
        .values([AttributeValue(handle: 6, value: [])]), .values([]), .characteristics([]), characteristic(end: 4),
        characteristic(end: 3),
        .descriptors([DiscoveredDescriptor(uuid: .clientCharacteristicConfiguration, handle: 4)]),
        .descriptors([]), .written,
    ]

    // MARK: - The attributes that are known

    private enum Caching: CaseIterable {
        case empty
        /// Users have found a service, of a peer without a hash.
        case told
        /// The same, of a peer with a hash.
        case hashed

        var machine: AttributeCaching {
            var caching = AttributeCaching()
            let context = AttributeCaching.Context(LinkPreparation(isChangeWatched: false))
            if self == .hashed {
                _ = caching.admit(.discoverPrimaryServices(), .call(UserCall(1)), .unbonded)
                _ = caching.hashRead(.success(.databaseHash(1)), context, kept: nil)
            }
            guard self != .empty else { return caching }
            let operation = PendingOperation(1, .discoverPrimaryServices(), .call(UserCall(1)))
            _ = caching.learn(.services([LinkPreparationMachineTests.generic]), of: operation, context)
            return caching
        }
    }

    private static let cachings = Dictionary(uniqueKeysWithValues: Caching.allCases.map { ($0, $0.machine) })

    // MARK: - Events

    private enum Event: Hashable {
        case used, linkIdle
        /// The step ended with one of the answers.
        case answered(Int, Caching, isDiscovering: Bool)
        case failed
        case servicesFound(DiscoveredService, inDatabase: Bool)
        case somethingElseFound
        case servicesChanged(BluetoothUUID?)
    }

    private static let events: [Event] =
        [
            .used, .linkIdle, .failed, .somethingElseFound, .servicesChanged(nil), .servicesChanged(battery.uuid),
            .servicesFound(generic, inDatabase: false), .servicesFound(battery, inDatabase: true),
        ]
        + answers.indices.flatMap { index in
            Caching.allCases.flatMap { caching in
                [false, true].map { .answered(index, caching, isDiscovering: $0) }
            }
        }

    // MARK: - Another account of it

    /// A step, whether it runs, and what is known.
    private struct Model: Hashable {
        var step = Machine.PhaseName.unused
        var isRunning = false
        var services: [BluetoothUUID]?
        var knowsGenericAttribute = false
        var isWatched: Bool

        init(isChangeWatched: Bool) { isWatched = isChangeWatched }

        var isWaiting: Bool { step != .unused && step != .over && !isRunning }

        var mayMissChange: Bool { step == .verification || step != .over && !isWatched }

        func operation() -> GATTClientOperation? {
            guard isWaiting else { return nil }
            return switch step {
            case .services, .verification: .discoverPrimaryServices()
            case .name: .readByUUID(.deviceName)
            case .serviceChanged: .discoverCharacteristics(in: 1...4, uuid: .serviceChanged)
            case .descriptor: .discoverDescriptors(in: 4...4)
            case .configuration: .configure(descriptor: 4, .indications)
            case .unused, .over: nil
            }
        }

        /// - Parameter answer: nil for a refusal.
        mutating func stepped(_ answer: GATTClientResult?, _ caching: Caching, isDiscovering: Bool) -> [Machine.Effect]
        {
            guard isRunning else { return [] }
            isRunning = false
            var effects: [Machine.Effect] = []
            let wasWatched = isWatched
            var next = Machine.PhaseName.over
            switch step {
            case .unused, .over: return []
            case .services: next = .name
            case .name:
                if answer == answers[2] { effects = [.learned(name: "AB")] }
                if knowsGenericAttribute { next = .serviceChanged } else if services != nil { isWatched = true }
                if next == .over, services != nil { effects.append(.watched) }
            case .serviceChanged:
                if answer == .characteristics([]) {
                    isWatched = true
                    effects = [.watched]
                }
                if answer == characteristic(end: 4) { next = .descriptor }
            case .descriptor:
                if case .descriptors(let found) = answer {
                    effects = [.foundServiceChanged(3)]
                    if !found.isEmpty { next = .configuration }
                }
            case .configuration where answer != nil:
                isWatched = true
                effects = [.watchesServiceChanged, .watched]
                if !wasWatched {
                    effects.append(.verifyAttributes)
                    if caching == .told || caching == .empty && isDiscovering { next = .verification }
                }
            case .configuration: break
            case .verification:
                // The peer had the Generic Attribute service in handles 1 to 4, as far as users know.
                if answer == .services([battery]), caching != .empty {
                    effects = [.servicesChanged(in: 1...9, now: [battery.uuid])]
                }
            }
            step = next
            return step == .over ? effects + [.over] : effects
        }

        mutating func found(_ service: DiscoveredService) -> Bool {
            let isNews = services != [service.uuid]
            services = [service.uuid]
            if service == generic { knowsGenericAttribute = true }
            if step == .services, !isRunning { step = .name }
            return isNews && step == .over
        }
    }

    private struct State: Hashable {
        var machine: Machine
        var model: Model
    }

    // MARK: - Comparison

    /// Applies an event to both, and compares what they do. Returns its name, and whether it had an effect.
    private func apply(_ event: Event, to state: inout State) -> (Machine.EventName?, hasEffects: Bool) {
        switch event {
        case .used:
            state.machine.begin()
            if state.model.step == .unused { state.model.step = .services }
            return (.used, false)
        case .linkIdle:
            let expected = state.model.operation()
            state.model.isRunning = state.model.isRunning || expected != nil
            let operation = state.machine.nextOperation()
            #expect(operation == expected)
            return (.linkIdle, operation != nil)
        case .answered(let index, let caching, let isDiscovering):
            let answer = Self.answers[index]
            return step(.success(answer), answer, caching, isDiscovering: isDiscovering, &state)
        case .failed: return step(.failure(.timedOut), nil, .told, isDiscovering: false, &state)
        case .servicesFound(let service, let isInDatabase):
            let result: GATTClientResult =
                isInDatabase ? .database(DiscoveredDatabase(services: [service])) : .services([service])
            let isNews = state.machine.learn(result)
            let isExpected = state.model.found(service)
            #expect(isNews == isExpected)
            return (.servicesFound, isNews)
        case .somethingElseFound:
            let isNews = state.machine.learn(.descriptors([]))
            #expect(!isNews)
            return (nil, false)
        case .servicesChanged(let uuid):
            state.machine.servicesChanged(to: uuid.map { [$0] })
            state.model.services = uuid.map { [$0] }
            return (nil, false)
        }
    }

    private func step(
        _ result: Result<GATTClientResult, HostError>, _ answer: GATTClientResult?, _ caching: Caching,
        isDiscovering: Bool, _ state: inout State
    ) -> (Machine.EventName?, hasEffects: Bool) {
        let before = state.model
        let effects = state.machine.stepped(
            result, Self.cachings[caching] ?? caching.machine, isDiscovering: isDiscovering)
        let expected = state.model.stepped(answer, caching, isDiscovering: isDiscovering)
        if effects != expected {
            Issue.record("\(result) in \(before), \(caching), gives \(effects), not \(expected)")
        }
        return (answer == nil ? .failed : .answered, !effects.isEmpty)
    }

    private func compare(_ state: State, after event: Event) {
        let (machine, model) = (state.machine, state.model)
        let isSame =
            machine.phaseName == model.step && machine.isWaiting == model.isWaiting
            && machine.isOver == (model.step == .over) && machine.services == model.services
            && machine.isChangeWatched == model.isWatched
            && machine.mayMissChange == model.mayMissChange
        if !isSame { Issue.record("\(event) leads to \(machine), not to \(model)") }
    }

    @Test("Every event in every phase, with and without a bond")
    func table() {
        var table = MachineTable<Machine>()
        for isWatched in [false, true] {
            let first = State(
                machine: Machine(isChangeWatched: isWatched), model: Model(isChangeWatched: isWatched))
            let states = explore(from: first, Self.events) { before, event in
                var state = before
                let (name, hasEffects) = apply(event, to: &state)
                compare(state, after: event)
                // What is known may change without a step.
                if let name, before.machine.phaseName != state.machine.phaseName || hasEffects {
                    table.note(name, from: before.machine, to: state.machine, hasEffects: hasEffects)
                }
                return state
            }
            #expect(states.contains { $0.model.step == .over })
        }
        table.expectTransitions()
    }
}
