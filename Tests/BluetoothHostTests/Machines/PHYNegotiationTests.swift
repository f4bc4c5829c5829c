import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("The negotiation of PHYs, as a table")
struct PHYNegotiationTests {
    typealias Machine = PHYNegotiation
    typealias Step = MachineStep<Machine>

    static let first = RequestIdentifier(number: 1), second = RequestIdentifier(number: 2)
    static let fast = LinkPHYs(transmit: .le2M, receive: .le2M)
    static let limit = Duration.seconds(40)

    /// A wish: of the host itself, which is for LE 2M, or a request, which is for LE Coded with eight symbols a bit.
    enum Wish: Equatable {
        case own
        case request(RequestIdentifier)

        var request: RequestIdentifier? {
            if case .request(let request) = self { request } else { nil }
        }

        var command: LESetPHY {
            switch self {
            case .own:
                LESetPHY(
                    connectionHandle: LinkContext.handle, transmit: .le2M, receive: .le2M, options: .noPreference)
            case .request:
                LESetPHY(
                    connectionHandle: LinkContext.handle, transmit: .leCoded, receive: .leCoded, options: .preferS8)
            }
        }
    }

    /// The states: the wish that is with the controller, and the one behind it.
    static let states: [[Wish]] = [
        [], [.own], [.request(first)], [.own, .request(first)], [.request(first), .own], [.own, .own],
    ]

    /// A machine with these wishes, of which the first was sent at the beginning.
    private static func machine(_ wishes: [Wish]) throws -> Machine {
        var machine = Machine()
        for wish in wishes {
            switch wish {
            case .own: _ = machine.handle(.preferred(.le2M), LinkContext())
            case .request(let request): _ = try machine.ask(for: .leCoded, .preferS8, request, LinkContext())
            }
        }
        return machine
    }

    static let contexts: [LinkContext] = [true, false].flatMap { canSend in
        [true, false].flatMap { isAnnounced in
            [Duration.seconds(39), limit].map {
                LinkContext(isAnnounced: isAnnounced, canSendCommand: canSend, at: $0)
            }
        }
    }

    /// The same as the machine, written as a line of wishes.
    private struct Oracle {
        var wishes: [Wish]
        var effects: [LinkEffect] = []
        var hasSent = false
        let context: LinkContext

        var step: Step { Step([.idle, .running, .queued][wishes.count], effects) }
        var requests: [RequestIdentifier] { wishes.compactMap(\.request) }

        var deadline: Instant? {
            if wishes.isEmpty { return nil }
            return (hasSent ? context.now : .zero).advanced(by: limit)
        }

        mutating func add(_ wish: Wish) {
            wishes.append(wish)
            if wishes.count == 1 { sendFirst() }
        }

        mutating func end(_ error: HostError?) {
            guard let wish = wishes.first else { return }
            wishes.removeFirst()
            if let request = wish.request {
                effects.append(.report(error.map { .requestFailed(request, $0) } ?? .requestCompleted(request)))
            }
            sendFirst()
        }

        private mutating func sendFirst() {
            guard let wish = wishes.first else { return }
            guard context.canSendCommand else { return end(.busy) }
            hasSent = true
            effects.append(.send(wish.command, for: .setPHY(LinkContext.link)))
        }
    }

    @Test("Every event in every state, in every context that matters")
    func table() throws {
        var table = MachineTable<Machine>()
        for wishes in Self.states {
            let machine = try Self.machine(wishes)
            for context in Self.contexts {
                let oracle = Oracle(wishes: wishes, context: context)
                checkAsking(machine, oracle, &table)
                checkAnswers(machine, oracle, &table)
            }
        }
        table.expectTransitions()
    }

    private func checkAsking(_ machine: Machine, _ oracle: Oracle, _ table: inout MachineTable<Machine>) {
        let context = oracle.context
        var asked = oracle
        let isRefused = oracle.wishes.count == 2 || oracle.wishes.first?.request != nil
        if !isRefused { asked.add(.request(Self.second)) }
        let expected = isRefused ? Step(machine.phaseName, error: .busy) : asked.step
        var after = table.check(machine, .asked, expected, "\(context)") { machine throws(HostError) in
            try machine.ask(for: .leCoded, .preferS8, Self.second, context)
        }
        #expect(after.requests == asked.requests && after.deadline == asked.deadline)

        var preferred = oracle
        if oracle.wishes.count < 2 { preferred.add(.own) }
        after = table.check(machine, .preferred, preferred.step, "\(context)") {
            $0.handle(.preferred(.le2M), context)
        }
        #expect(after.requests == preferred.requests && after.deadline == preferred.deadline)
    }

    private func checkAnswers(_ machine: Machine, _ oracle: Oracle, _ table: inout MachineTable<Machine>) {
        let context = oracle.context
        table.check(machine, .commandAnswered, oracle.step, "success") {
            $0.handle(.commandAnswered(.success), context)
        }
        let refusal = HCIStatus.unsupportedRemoteFeature
        var failed = oracle
        failed.end(.controller(refusal))
        var after = table.check(machine, .commandAnswered, failed.step, "\(context)") {
            $0.handle(.commandAnswered(refusal), context)
        }
        #expect(after.requests == failed.requests && after.deadline == failed.deadline)
        after = table.check(machine, .updateCompleted, failed.step, "a failure, \(context)") {
            $0.handle(.updateCompleted(refusal, Self.fast), context)
        }
        #expect(after.phys == LinkPHYs())

        for phys in [LinkPHYs(), Self.fast] {
            var completed = oracle
            if phys != LinkPHYs(), context.isAnnounced { completed.effects.append(.report(.phyChanged(phys))) }
            completed.end(nil)
            let after = table.check(machine, .updateCompleted, completed.step, "\(phys), \(context)") {
                $0.handle(.updateCompleted(.success, phys), context)
            }
            #expect(after.phys == phys && after.requests == completed.requests)
        }

        var timedOut = oracle
        if context.now == Instant.zero.advanced(by: Self.limit) { timedOut.end(.timedOut) }
        after = table.check(machine, .timePassed, timedOut.step, "\(context)") { $0.handle(.timePassed, context) }
        #expect(after.requests == timedOut.requests && after.deadline == timedOut.deadline)
    }
}
