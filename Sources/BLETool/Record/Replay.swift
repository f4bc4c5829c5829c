import ArgumentParser
import BluetoothDocuments
import BluetoothCommandLine

/// `ble replay`: serves a device that was recorded.
struct Replay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Is the device that ble record has recorded.",
        discussion: HelpText.discussion(
            """
            Its database has the same handles and values, and what could not be read is refused with the same errors. What it \
            notified comes at the same times, counted from each subscription. It also has the same address, if that is a \
            static random one, and advertises the same octets. Ctrl-C ends it.
            """,
            examples: ["ble record Thermometer thermometer.json", "ble replay thermometer.json"]))

    @OptionGroup var transport: TransportOptions

    @Argument(help: "The file that ble record wrote.", completion: .file(extensions: ["json"]))
    var file: String

    func run() async throws {
        let server = try DeviceServer(try DocumentFile.read(file), of: file)
        try await transport.withAdapter(isRecovering: true, configure: server.configure) { adapter in
            try await server.run(on: adapter)
        }
    }
}
