import BluetoothBase

/// The transitions that a test has seen a machine make, for comparison with the machine's table.
package struct MachineTable<Machine: StateMachine> {
    private var seen: Set<Transition<Machine>> = []

    /// Creates a table in which nothing has been seen.
    package init() {}

    /// Notes an event, unless the machine ignored it.
    package mutating func note(
        _ event: Machine.EventName, from before: Machine, to after: Machine, hasEffects: Bool = false
    ) {
        guard before != after || hasEffects else { return }
        seen.insert(Transition(before.phaseName, event, after.phaseName))
    }

    /// One line for each difference between the seen transitions and the machine's table, in both directions, and for
    /// each mistake in the table. Empty if each row of the table was seen, and nothing else.
    package var differences: [String] {
        let table = Set(Machine.transitions)
        var lines = Self.texts(seen.subtracting(table), "not in the table")
        lines += Self.texts(table.subtracting(seen), "not seen")
        let phases = Set(table.flatMap { [$0.phase, $0.next] })
        for phase in Machine.PhaseName.allCases where !phases.contains(phase) {
            lines.append("\(phase.rawValue): a phase without a row")
        }
        if table.count < Machine.transitions.count { lines.append("a row occurs twice") }
        return lines
    }

    private static func texts(_ rows: Set<Transition<Machine>>, _ complaint: String) -> [String] {
        rows.map { "\($0.phase.rawValue) --\($0.event.rawValue)--> \($0.next.rawValue): \(complaint)" }.sorted()
    }
}
