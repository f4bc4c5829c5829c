import ArgumentParser
import BluetoothDocuments
import BluetoothCommandLine

/// `ble replay`: serves a device that was recorded.
struct Replay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serves a device that ble record has recorded.",
        discussion: HelpText.discussion(
            """
            The database has the same handles and values. Values that could not be read are refused with the same \
            errors. Notifications are sent at the recorded times, counted from each subscription. The device \
            advertises the same octets, and has the same address if that is a static random one. Press Ctrl-C to stop.
            """,
            examples: ["ble record Thermometer thermometer.json", "ble replay thermometer.json"]))

    @OptionGroup var transport: TransportOptions

    @Argument(help: "The file that ble record wrote.", completion: .file(extensions: ["json"]))
    var file: String

    func run() async throws {
        let server = try DeviceServer(try await DocumentFile.read(file), of: file)
        try await transport.withAdapter(isRecovering: true, configure: server.configure) { adapter in
            try await server.run(on: adapter)
        }
    }
}
