import ArgumentParser
import BluetoothDocuments
import BluetoothGATT
import BluetoothCommandLine

/// `ble serve`: serves a device that is described in a file.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serves and advertises the device that a file describes.",
        discussion: HelpText.discussion(
            """
            The file is JSON: services, characteristics and descriptors, with their handles, values and permissions, \
            and a schedule of notifications. ble inspect --json and ble record write such files. Prints the actions of \
            peers. Press Ctrl-C to stop.

            With --bearer, uses no adapter: the peer is at the other end of an inherited socket of type \
            SOCK_SEQPACKET, and each packet is one PDU of the Attribute Protocol. Lines on standard input, such as \
            "notify 0x0012 01 FF" or "indicate 0x0012 01 FF", send values. The handle is that of a characteristic's \
            value. The command ends when the peer disconnects.
            """,
            examples: [
                "ble serve thermometer.json", "ble serve thermometer.json --notify measurements.json",
                "ble serve thermometer.json --bearer fd:3",
            ]))

    @OptionGroup var transport: TransportOptions

    @OptionGroup var pairing: PairingOptions

    @Argument(help: "The file that describes the device.", completion: .file(extensions: ["json"]))
    var file: String

    @Option(
        help: ArgumentHelp(
            "Send the notifications in this file instead of those in the first: a JSON list of times in milliseconds, "
                + "characteristics and values.",
            valueName: "file"),
        completion: .file(extensions: ["json"]))
    var notify: String?

    @Option(help: ArgumentHelp("Serve over an inherited descriptor, without an adapter.", valueName: "fd:N"))
    var bearer: BearerName?

    func run() async throws {
        var document = try await DocumentFile.read(file)
        if let notify { document.notifications = try await DocumentFile.readNotifications(notify) }
        let server = try DeviceServer(document, of: notify ?? file)
        guard let bearer else {
            return try await transport.withAdapter(
                isRecovering: true, pairing: pairing, configure: server.configure
            ) { adapter in
                try await server.run(on: adapter)
            }
        }
        let bare: BareServer
        do throws(GATTDatabaseError) {
            bare = try BareServer(server.layout)
        } catch {
            throw CommandFailure(.usage, "\(file): \(error)")
        }
        _ = try await BearerLoop.run(bare, on: bearer, readsInput: true)
    }
}
