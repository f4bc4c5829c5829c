import ArgumentParser
import BluetoothCommandLine
import HCITransport

/// `ble adapters`: lists the adapters of this machine.
struct Adapters: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists the kernel's Bluetooth adapters with their name, address, bus and state.",
        discussion: HelpText.discussion(
            """
            Needs no privileges and changes nothing. The transport hci-socket:ADAPTER accepts an adapter's name or \
            address. The name may change when the adapter is plugged in again; the address does not. Exits with status \
            3 if the machine has no adapter, and with status 5 if the kernel has no Bluetooth.
            """,
            examples: ["ble adapters", "ble adapters --json"]))

    @Flag(help: "Print a JSON array with an object for each adapter.")
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
