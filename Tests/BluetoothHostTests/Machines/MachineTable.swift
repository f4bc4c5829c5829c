import Testing

@testable import BluetoothHost

/// The transitions that a test has seen a machine make, for comparison with the machine's table.
struct MachineTable<Machine: StateMachine> {
    private var seen: Set<Transition<Machine>> = []

    /// Notes an event, unless the machine ignored it.
    mutating func note(
        _ event: Machine.EventName, from before: Machine, to after: Machine, hasEffects: Bool = false
    ) {
        guard before != after || hasEffects else { return }
        seen.insert(Transition(before.phaseName, event, after.phaseName))
    }

    /// Expects that each row of the table was seen, and nothing else.
    func expectTransitions(sourceLocation: SourceLocation = #_sourceLocation) {
        let table = Set(Machine.transitions)
        #expect(table.count == Machine.transitions.count, "no row twice", sourceLocation: sourceLocation)
        #expect(Self.texts(seen.subtracting(table)) == [], "not in the table", sourceLocation: sourceLocation)
        #expect(Self.texts(table.subtracting(seen)) == [], "not seen", sourceLocation: sourceLocation)
        let phases = Set(table.flatMap { [$0.phase, $0.next] })
        #expect(phases == Set(Machine.PhaseName.allCases), "phases without a row", sourceLocation: sourceLocation)
    }

    private static func texts(_ rows: Set<Transition<Machine>>) -> [String] {
        rows.map { "\($0.phase.rawValue) --\($0.event.rawValue)--> \($0.next.rawValue)" }.sorted()
    }
}

/// Every state that can be reached from one.
///
/// - Parameter step: applies an event to a state; nil where the event cannot happen.
func explore<State: Hashable, Event>(
    from first: State, _ events: [Event], limit: Int = 100_000, _ step: (State, Event) -> State?
) -> Set<State> {
    var known: Set<State> = [first]
    var open = [first]
    while let state = open.popLast() {
        for event in events {
            guard let next = step(state, event), known.insert(next).inserted else { continue }
            open.append(next)
        }
        precondition(known.count < limit, "a machine has too many states to visit each")
    }
    return known
}
