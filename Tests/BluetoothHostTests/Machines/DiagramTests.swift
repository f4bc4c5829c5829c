import BluetoothHost
import BluetoothUsers
import Foundation
import Testing

@Suite("The state machine page")
struct DiagramTests {
    static let page = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Documentation/StateMachines.md").standardizedFileURL

    /// The page as it must be.
    private var text: String {
        var text = """
            # State machines

            The host keeps each concern in a state machine: a type with a private phase, which only its own functions change.
            `Scripts/diagrams` draws this page from the machines' tables of transitions. Tests compare each table with its machine, for
            every phase and event. A phase ignores the events that are not drawn for it.

            """
        for machine in MachineCatalog.ofHost + MachineCatalog.ofUsers {
            text += "\n## \(machine.name)\n\n\(machine.summary)\n\n```mermaid\n\(machine.diagram)\n```\n"
        }
        return text
    }

    @Test("Documentation/StateMachines.md shows the machines' tables; Scripts/diagrams writes it") func page()
        throws
    {
        if ProcessInfo.processInfo.environment["BLUETOOTH_WRITE_DIAGRAMS"] == "1" {
            try Data(text.utf8).write(to: Self.page)
        }
        let written = try String(contentsOf: Self.page, encoding: .utf8)
        #expect(written == text, "Run Scripts/diagrams, and look at what it changes.")
    }

    @Test("Each machine appears on the page once, with a one-sentence summary") func entries() {
        let machines = MachineCatalog.ofHost + MachineCatalog.ofUsers
        #expect(Set(machines.map(\.name)).count == machines.count)
        for machine in machines {
            #expect(machine.summary.hasSuffix(".") && !machine.summary.contains("\n"), "\(machine.name)")
            #expect(machine.diagram.hasPrefix("stateDiagram-v2\n    [*] --> "), "\(machine.name)")
        }
    }
}
