/// One concern of a host or a link, with private state: an event goes in, effects come out.
///
/// The phase of a state machine is an enum with payloads. A table lists the transitions between phases, without the
/// payloads. For every phase and event, a test compares the table with the behavior of the state machine.
/// `Scripts/diagrams` draws the table in `Documentation/StateMachines.md`.
package protocol StateMachine: Hashable, Sendable {
    /// The names of the phases, roughly in the order in which they occur. The first one is the initial phase.
    associatedtype PhaseName: RawRepresentable<String> & CaseIterable & Hashable & Sendable
    /// The names of the events.
    associatedtype EventName: RawRepresentable<String> & CaseIterable & Hashable & Sendable

    /// Every change of phase, and every event that has effects without changing the phase. Other events are ignored.
    static var transitions: [Transition<Self>] { get }

    var phaseName: PhaseName { get }
}

/// One row of a state machine's table: in `phase`, `event` may lead to `next`. If a phase has several rows for an
/// event, the event's payload or the context decides.
package struct Transition<Machine: StateMachine>: Hashable, Sendable {
    package let phase: Machine.PhaseName
    package let event: Machine.EventName
    package let next: Machine.PhaseName

    package init(_ phase: Machine.PhaseName, _ event: Machine.EventName, _ next: Machine.PhaseName) {
        (self.phase, self.event, self.next) = (phase, event, next)
    }
}

extension StateMachine {
    /// The transitions as a Mermaid state diagram. Events with the same source and destination share an arrow.
    package static var diagram: String {
        var arrows: [(phase: PhaseName, next: PhaseName, events: [EventName])] = []
        for row in transitions {
            if let index = arrows.firstIndex(where: { $0.phase == row.phase && $0.next == row.next }) {
                arrows[index].events.append(row.event)
            } else {
                arrows.append((row.phase, row.next, [row.event]))
            }
        }
        var lines = ["stateDiagram-v2"]
        if let first = PhaseName.allCases.first { lines.append("    [*] --> \(first.rawValue)") }
        for arrow in arrows {
            let events = arrow.events.map(\.rawValue).joined(separator: ", ")
            lines.append("    \(arrow.phase.rawValue) --> \(arrow.next.rawValue): \(events)")
        }
        return lines.joined(separator: "\n")
    }
}
