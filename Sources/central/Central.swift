import ArgumentParser
import BluetoothLE
import BluetoothCommandLine

/// Finds a device that offers a card, receives the card, and writes it to standard output.
@main
struct Central: CommandLineProgram {
    static let configuration = CommandConfiguration(
        commandName: "central", abstract: "Receives a card over Bluetooth LE and writes it to standard output.",
        discussion: HelpText.discussion(
            """
            Nothing is written to standard output unless the card is complete. Exits with status 3 if no such device was \
            found and connected in time. Exits with status 4 if a device was connected but the card is missing or \
            incomplete: the link or part of the card was lost, the device stopped answering or sending, it has no \
            card, or pairing failed.
            """,
            examples: [
                "central --timeout 10 > card.json", "central --transport hci-socket:hci1 --name BCS --rssi -70..0",
            ]),
        version: ProgramVersion.line(of: "central"))

    static let service: BluetoothUUID = "E07F0AE8-00BB-47F5-94F4-4A7174EA3032"
    static let card: BluetoothUUID = "9D534E8B-2153-4F6D-B2B0-8C68665A7274"

    @OptionGroup var transport: TransportOptions

    @OptionGroup var pairing: PairingOptions

    @Option(help: "Only the device with exactly this name.")
    var name: String?

    @Option(help: "Only the device with this address, such as C0:11:22:33:44:55; /P marks a public one.")
    var address: DeviceAddress?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only a device with an RSSI in this range, in dBm, such as -70..0.", valueName: "min..max"))
    var rssi: SignalStrengths?

    @Option(
        help: ArgumentHelp(
            "The time limit for finding the device and connecting, and before that for opening the controller.",
            valueName: "seconds"))
    var timeout = Seconds(30)

    @Option(help: ArgumentHelp("The time limit for receiving the card.", valueName: "seconds"))
    var cardTimeout = Seconds(600)

    /// The time limit for the next octet of the card.
    private static let idleTimeout = Duration.seconds(10)

    func run() async throws {
        let card = try await transport.withAdapter(within: timeout, pairing: pairing) { adapter, attempts in
            let search = DeviceSearch(attempts)
            // Only until the link is protected: an interrupted transfer is reported, not repeated.
            let connection = try await attempts.run(on: adapter) {
                let connection = try await connect(adapter, search)
                say("connected to \(connection.address), ATT_MTU \(connection.mtu)")
                try await pairing.protect(connection)
                return connection
            }
            let card = try await receive(from: connection)
            // The card has been received, whatever happens to the link.
            try? await connection.disconnect()
            return card
        }
        try writeToStandardOutput(card)
    }

    /// Connects to the first device that offers the service and is not excluded by the arguments.
    private func connect(_ adapter: Adapter, _ search: DeviceSearch) async throws -> Connection {
        let filter = ScanFilter(
            services: [Self.service], addresses: address.map { [$0] } ?? [], rssi: rssi?.range,
            isConnectableOnly: true)
        let sighting =
            if let name {
                try await search.sighting(named: name, for: filter, on: adapter)
            } else {
                try await search.firstSighting(for: filter, of: "a device that offers a card", on: adapter)
            }
        say("found \(quoted(sighting.name ?? "")), \(sighting.address)")
        return try await search.connect(to: sighting, on: adapter)
    }

    /// Subscribes to the card, and assembles it from notifications.
    private func receive(from connection: Connection) async throws -> [UInt8] {
        let progress = ProgressDisplay("received")
        defer { progress.endLine() }
        let card: [UInt8]
        do throws(BluetoothError) {
            let characteristic = try await connection.characteristic(Self.card, in: Self.service)
            card = try await connection.receiveMessage(
                from: characteristic, idleTimeout: Self.idleTimeout, timeLimit: cardTimeout.duration
            ) { octets in
                progress.update(octets)
            }
        } catch {
            if error.code == .notFound, let uuid = error.uuid {
                throw CommandFailure(.linkLost, "\(connection.address) has no card: it lacks \(uuid)")
            }
            if error.code == .notSupported {
                throw CommandFailure(.linkLost, "\(connection.address) sends no card: \(error)")
            }
            if let count = error.octetsReceived, let why = error.interruption {
                throw CommandFailure(
                    .linkLost,
                    "the card is incomplete, only \(counted(count, "octet")) \(count == 1 ? "was" : "were") received: "
                        + "\(why)")
            }
            throw error
        }
        progress.finish(card.count)
        return card
    }
}
