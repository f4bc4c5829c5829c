import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothL2CAP
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("The negotiation of enhanced ATT bearers, phase by phase")
struct BearerNegotiationTests {
    typealias Machine = BearerNegotiation
    typealias Name = BearerNegotiation.PhaseName

    private static let start = Instant.zero
    private static let later = Instant.zero.advanced(by: .seconds(2))
    private static let channel = CreditBasedChannel.ID(rawValue: 0x1_0040)
    private static let otherChannel = CreditBasedChannel.ID(rawValue: 0x1_0041)
    private static let limit = 2

    /// The identifiers of two operations.
    private static let operations: [GATTClient.OperationID] = {
        var endpoint = AttributeEndpoint(), writer = ByteWriter()
        return (0..<2).compactMap { _ in try? endpoint.start(.read(3), on: .first, at: start, into: &writer) }
    }()
    private static var operation: GATTClient.OperationID { operations[0] }

    /// A link on which nothing is in the way.
    private static let good = Machine.Context(
        role: .peripheral,
        parameters: CurrentConnectionParameters(
            interval: .milliseconds(100), latency: 4, supervisionTimeout: .seconds(5)),
        isOpen: true, isEncrypted: true, limit: limit, openCount: 0, hasRoomForChannel: true, now: start)

    private static let contexts: [Machine.Context] = (0..<128).map { bits in
        var context = good
        if bits & 1 != 0 { context.role = .central }
        if bits & 2 != 0 { context.isOpen = false }
        if bits & 4 != 0 { context.isEncrypted = false }
        if bits & 8 != 0 { context.limit = 0 }
        if bits & 16 != 0 { context.openCount = limit }
        if bits & 32 != 0 { context.hasRoomForChannel = false }
        if bits & 64 != 0 { context.now = later }
        return context
    }

    private static func values(_ values: [UInt8]...) -> Machine.Event {
        .operationEnded(.completed(operation, .values(values.map { AttributeValue(handle: 9, value: $0) })))
    }

    private static let events: [Machine.Event] = [
        .clientUsed, .encrypted, .decrypted, .operationBegan(operation), .operationRefused, values(), values([]),
        values([0]), values([1, 9]), values([6]), values([7, 1]), .operationEnded(.completed(operation, .written)),
        .operationEnded(.failed(operation, .att(ATTError(.attributeNotFound, for: .readByTypeRequest, at: 1)))),
        .operationEnded(.completed(operations[1], .values([AttributeValue(handle: 9, value: [1])]))),
        .channelRequested(channel), .requestRefused, .peerAsked, .channelOpened(channel), .channelOpened(otherChannel),
        .channelRefused(channel, peerLacksRoom: false), .channelRefused(channel, peerLacksRoom: true),
        .channelRefused(otherChannel, peerLacksRoom: true), .timePassed,
    ]

    /// A way into each phase, on a link on which nothing is in the way.
    private static let ways: [(Name, peerHasAsked: Bool, [Machine.Event])] = {
        let starting: [Machine.Event] = [.clientUsed]
        let reading = starting + [.operationBegan(operation)]
        let readingOwn = reading + [values([1]), .operationBegan(operation)]
        let requesting = readingOwn + [values([6])]
        let opening = requesting + [.channelRequested(channel)]
        return [
            (.unused, false, []), (.starting, false, starting), (.readingServerFeatures, false, reading),
            (.readingClientFeatures, false, readingOwn),
            (.writingClientFeatures, false, readingOwn + [values([0]), .operationBegan(operation)]),
            (.requesting, false, requesting), (.opening, false, opening), (.opening, true, opening + [.peerAsked]),
            (.waiting, false, opening + [.peerAsked, .channelRefused(channel, peerLacksRoom: true)]),
            (.done, false, opening + [.channelRefused(channel, peerLacksRoom: false)]),
            (.idle, false, opening + [.decrypted]),
        ]
    }()

    private static func machine(after events: [Machine.Event]) -> Machine {
        var machine = Machine()
        for event in events { _ = machine.handle(event, good) }
        return machine
    }

    private static func name(of event: Machine.Event) -> Machine.EventName {
        switch event {
        case .clientUsed: .clientUsed
        case .encrypted: .encrypted
        case .decrypted: .decrypted
        case .operationBegan: .operationBegan
        case .operationRefused: .operationRefused
        case .operationEnded: .operationEnded
        case .channelRequested: .channelRequested
        case .requestRefused: .requestRefused
        case .peerAsked: .peerAsked
        case .channelOpened: .channelOpened
        case .channelRefused: .channelRefused
        case .timePassed: .timePassed
        }
    }

    // MARK: - The oracle

    /// What is known of a machine from the way into its phase.
    private struct Situation {
        let phase: Name
        let peerHasAsked: Bool
        let question: Machine.Question
        let context: Machine.Context

        var isUsable: Bool { context.isOpen && context.isEncrypted }

        var request: (Name, [Machine.Effect]) {
            isUsable && context.hasRoomForChannel && context.openCount < context.limit
                ? (.requesting, [.requestChannel]) : (context.isEncrypted ? .done : .idle, [])
        }

        var beginning: (Name, [Machine.Effect]) {
            isUsable && context.limit > 0 ? (.starting, [.start(.readByUUID(.serverSupportedFeatures))]) : (.idle, [])
        }
    }

    private func expected(_ event: Machine.Event, _ situation: Situation) -> (Name, [Machine.Effect]) {
        let stays: (Name, [Machine.Effect]) = (situation.phase, [])
        switch (situation.phase, event) {
        case (.opening, .decrypted): return (.idle, [.closeBearers, .abandon(Self.channel)])
        case (.idle, .decrypted), (.waiting, .decrypted), (.done, .decrypted): return (.idle, [.closeBearers])
        case (_, .decrypted): return (situation.phase, [.closeBearers])

        case (.unused, .clientUsed), (.idle, .encrypted): return situation.beginning

        case (.starting, .operationBegan):
            switch situation.question {
            case .serverFeatures: return (.readingServerFeatures, [])
            case .clientFeatures: return (.readingClientFeatures, [])
            case .ownFeatures: return (.writingClientFeatures, [])
            }
        case (.starting, .operationRefused), (.requesting, .requestRefused): return (.done, [])

        case (.readingServerFeatures, .operationEnded(let end)) where end.operation == Self.operation:
            let offersBearers = [[1], [1, 9], [7, 1]].contains(Self.firstValue(of: end))
            return offersBearers ? (.starting, [.start(.readByUUID(.clientSupportedFeatures))]) : (.done, [])
        case (.readingClientFeatures, .operationEnded(let end)) where end.operation == Self.operation:
            if case .completed(_, .written) = end { return (.done, []) }
            switch Self.firstValue(of: end) {
            case []?, [0]?: return (.starting, [.start(.write(9, [6]))])
            case [1, 9]?: return (.starting, [.start(.write(9, [7, 9]))])
            default: return situation.request
            }
        case (.writingClientFeatures, .operationEnded(let end)) where end.operation == Self.operation:
            return situation.request

        case (.requesting, .channelRequested): return (.opening, [])
        case (.opening, .channelOpened(Self.channel)): return situation.request
        case (.opening, .channelRefused(Self.channel, let lacksRoom)):
            guard lacksRoom, situation.peerHasAsked else { return (.done, []) }
            return situation.context.role == .central ? situation.request : (.waiting, [])
        case (.waiting, .timePassed): return situation.context.now == Self.later ? situation.request : stays
        default: return stays
        }
    }

    private static func firstValue(of end: GATTClientEvent) -> [UInt8]? {
        if case .completed(_, .values(let values)) = end { values.first?.value } else { nil }
    }

    // MARK: - Tests

    @Test("Every event in every phase, on links of every kind")
    func table() {
        var seen = MachineTable<Machine>()
        var situations = Self.ways.map { ($0.0, $0.peerHasAsked, Machine.Question.serverFeatures, $0.2) }
        let reading: [Machine.Event] = [.clientUsed, .operationBegan(Self.operation), Self.values([1])]
        situations.append((.starting, false, .clientFeatures, reading))
        situations.append(
            (.starting, false, .ownFeatures, reading + [.operationBegan(Self.operation), Self.values([0])]))
        for (phase, peerHasAsked, question, way) in situations {
            let before = Self.machine(after: way)
            #expect(before.phaseName == phase)
            for context in Self.contexts {
                let situation = Situation(
                    phase: phase, peerHasAsked: peerHasAsked, question: question, context: context)
                for event in Self.events {
                    var machine = before
                    let effects = machine.handle(event, context)
                    let (next, expectedEffects) = expected(event, situation)
                    #expect(machine.phaseName == next, "\(phase) \(event) \(context)")
                    #expect(effects == expectedEffects, "\(phase) \(event) \(context)")
                    seen.note(Self.name(of: event), from: before, to: machine, hasEffects: !effects.isEmpty)
                }
            }
        }
        seen.expectTransitions()
    }

    @Test("A peripheral waits for two intervals, including its latency, before it asks again")
    func pause() {
        var machine = Self.machine(after: Self.ways.first { $0.0 == .waiting }?.2 ?? [])
        let deadline = Self.start.advanced(by: .seconds(1))
        #expect(machine.deadline == deadline, "2 × 100 ms × (4 + 1)")
        var context = Self.good
        context.now = Self.start.advanced(by: .milliseconds(999))
        #expect(machine.handle(.timePassed, context) == [])
        context.now = deadline
        #expect(machine.handle(.timePassed, context) == [.requestChannel])
        #expect(machine.deadline == nil)
    }

    @Test("If the link loses its encryption during the queries, they start again once it is encrypted")
    func encryptedAgain() {
        var machine = Self.machine(after: Self.ways.first { $0.0 == .writingClientFeatures }?.2 ?? [])
        var context = Self.good
        context.isEncrypted = false
        #expect(machine.handle(.decrypted, context) == [.closeBearers])
        #expect(machine.handle(.operationEnded(.completed(Self.operation, .written)), context) == [])
        #expect(machine.handle(.encrypted, Self.good) == [.start(.readByUUID(.serverSupportedFeatures))])
    }

    @Test("The host requests at most two channels more than its bearer limit, even after another encryption")
    func requests() {
        var machine = Self.machine(after: Self.ways.first { $0.0 == .requesting }?.2 ?? [])
        for _ in 0..<Self.limit + 1 {
            _ = machine.handle(.channelRequested(Self.channel), Self.good)
            #expect(machine.requestedChannel == Self.channel)
            #expect(machine.handle(.channelOpened(Self.channel), Self.good) == [.requestChannel])
        }
        _ = machine.handle(.channelRequested(Self.channel), Self.good)
        #expect(machine.handle(.channelOpened(Self.channel), Self.good) == [])
        #expect(machine.phaseName == .done)
        for event in [.decrypted, .encrypted, .operationBegan(Self.operation), Self.values([1])] as [Machine.Event] {
            _ = machine.handle(event, Self.good)
        }
        _ = machine.handle(.operationBegan(Self.operation), Self.good)
        #expect(machine.operation == Self.operation)
        #expect(machine.handle(Self.values([6]), Self.good) == [])
        #expect(machine.phaseName == .done)
    }
}
