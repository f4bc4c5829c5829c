import BluetoothBase
import TestSupport
import Testing

extension MachineTable {
    /// Expects that each row of the table was seen, and nothing else.
    func expectTransitions(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(differences == [], sourceLocation: sourceLocation)
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
