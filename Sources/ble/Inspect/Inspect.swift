import ArgumentParser
import BluetoothDocuments
import BluetoothLE
import BluetoothCommandLine

/// `ble inspect`: shows the attribute database of a device.
struct Inspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows a device's services, characteristics and descriptors, with their values.",
        discussion: HelpText.discussion(
            """
            Shows every handle, and every value or the reason why it cannot be read. --json prints a document for ble \
            serve.

            With --bearer, uses no adapter: the device is at the other end of an inherited socket of type \
            SOCK_SEQPACKET, and each packet is one PDU of the Attribute Protocol.
            """,
            examples: [
                "ble inspect C0:11:22:33:44:55", "ble inspect Thermometer --json > thermometer.json",
                "ble inspect --bearer fd:3",
            ]))

    @OptionGroup var transport: TransportOptions

    @OptionGroup var pairing: PairingOptions

    @Argument(
        help: ArgumentHelp(
            "The device's address, or its exact name if no other device in range has it. See ble scan.",
            valueName: "device"))
    var device: DeviceSelector?

    @Option(
        help: ArgumentHelp(
            "The time limit for finding the device and connecting, including retries after a controller reset or a "
                + "lost packet.",
            valueName: "seconds"))
    var timeout = Seconds(30)

    @Flag(help: "Print a JSON document.")
    var json = false

    @Option(help: ArgumentHelp("Inspect the device behind an inherited descriptor.", valueName: "fd:N"))
    var bearer: BearerName?

    func validate() throws {
        guard (device == nil) != (bearer == nil) else {
            throw ValidationError("give either the address or name of a device, or --bearer")
        }
    }

    func run() async throws {
        if let bearer {
            let (client, end) = try await BearerLoop.run(BareClient(), on: bearer)
            // The user has interrupted the program, and needs no message.
            guard end != .interrupted else { return }
            try show(client.survey.document)
            guard end == .finished else {
                throw CommandFailure(.linkLost, "the device has disconnected; the output is incomplete")
            }
            return
        }
        guard let device else { return }
        let (document, link) = try await transport.withAdapter(within: timeout, pairing: pairing) { adapter, attempts in
            try await DeviceSearch(attempts).withConnection(to: device, pairing, on: adapter) {
                connection, attempts in
                var document = try await DeviceRecording.survey(connection, attempts).document
                document.address = connection.address
                // Read last: the ATT_MTU and the PHYs may have changed since the link was established.
                return (document, "ATT_MTU \(connection.mtu), \(connection.phy.text)")
            }
        }
        try show(document, link)
    }

    /// - Parameter link: the description of the link, if there was one.
    private func show(_ document: DeviceDocument, _ link: String? = nil) throws {
        var document = document
        document.name = document.deviceName
        if json { return try writeToStandardOutput([UInt8](document.json.utf8)) }
        let tree = InspectTree(document, link: link, palette: .standardOutput, columns: terminalColumns())
        for line in tree.lines { try writeLine(line) }
    }
}
