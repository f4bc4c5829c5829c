import ArgumentParser
import CommandLineSupport
import HCITransport

/// `ble adapters`: which adapters this machine has.
struct Adapters: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists the kernel's Bluetooth adapters: name, address, bus, and who has it.",
        discussion: """
            Any user may ask, and nothing is changed. Name an adapter behind hci-socket: by its name or its address; the \
            name may be another one when it is plugged in again, the address stays. Ends with 3 where there is none.
            """)

    @Flag(help: "Print a JSON array, an object for each adapter.")
    var json = false

    func run() async throws {
        let adapters = try HCIAdapter.list()
        if json {
            try writeLine("[" + adapters.map(AdapterLines.object).joined(separator: ",") + "]")
        } else {
            for line in AdapterLines.table(adapters) { try writeLine(line) }
        }
        guard !adapters.isEmpty else { throw CommandFailure(.notFound, "\(try HCIAdapter.absence())") }
    }
}
