import ArgumentParser
import BluetoothLE
import BluetoothCommandLine

/// `ble bench`: measures a link.
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures a link: throughput in both directions, round trips, interval and ATT_MTU.",
        discussion: HelpText.discussion(
            """
            The device runs ble bench --serve on another machine or adapter. Without a device, uses the first one \
            found. A round trip is a read of one octet. Writes without response and notifications are as long as the \
            ATT_MTU allows. Exits with status 3 if no such device was connected in time.
            """,
            examples: [
                "# On one machine:", "ble bench --serve", "# On the other:", "ble bench",
                "ble bench C0:11:22:33:44:55 --time 10 --json",
            ]))

    @Argument(
        help: ArgumentHelp(
            "The device's address or exact name. Defaults to the first device that runs ble bench --serve.",
            valueName: "device"))
    var device: DeviceSelector?

    @Flag(help: "Serve measurements until a signal ends the command.")
    var serve = false

    // A name of this length fits beside the service without a scan response.
    @Option(help: "With --serve: the name to advertise.")
    var name = "bench"

    @Option(help: ArgumentHelp("How long to measure each direction.", valueName: "seconds"))
    var time = Seconds(5)

    @Option(help: "The number of round trips to measure.")
    var roundTrips = PositiveCount(100)

    @Flag(help: "Print a JSON object; times are in milliseconds.")
    var json = false

    @Option(help: ArgumentHelp("The time limit for finding the device and connecting.", valueName: "seconds"))
    var timeout = Seconds(30)

    @OptionGroup var transport: TransportOptions
    @OptionGroup var pairing: PairingOptions

    func validate() throws {
        if serve, let device { throw ValidationError("with --serve, this command is the device; leave out \(device)") }
        if roundTrips.value > 100_000 { throw ValidationError("--round-trips must be at most 100000") }
    }

    func run() async throws {
        if serve { return try await runServer() }
        let result = try await transport.withAdapter(within: timeout, pairing: pairing) { adapter, attempts in
            let search = DeviceSearch(attempts)
            return try await attempts.run(on: adapter) {
                let connection = try await connect(adapter, search)
                try await pairing.protect(connection)
                let client = BenchClient(connection, time: time.duration, roundTrips: roundTrips.value)
                let result = try await client.run()
                try? await connection.disconnect()
                return result
            }
        }
        if json { return try writeLine(result.json) }
        for line in result.lines { try writeLine(line) }
    }

    private func connect(_ adapter: Adapter, _ search: DeviceSearch) async throws -> Connection {
        if let device { return try await search.connect(to: device, on: adapter) }
        let filter = ScanFilter(services: [BenchService.uuid], isConnectableOnly: true)
        let sighting = try await search.firstSighting(
            for: filter, of: "a device that runs ble bench --serve", on: adapter)
        return try await search.connect(to: sighting, on: adapter)
    }

    private func runServer() async throws {
        try await transport.withAdapter(deviceName: name, isRecovering: true, pairing: pairing, timeout: timeout) {
            adapter in
            var server = try await BenchServer(adapter)
            var advertisement = AdvertisementData()
            advertisement.localName = .complete(name)
            advertisement.serviceUUIDs = [BenchService.uuid]
            let complete = advertisement
            try await Attempts.untilTaken(on: adapter) { () throws(BluetoothError) in
                try await adapter.advertise(complete)
            }
            if let information = adapter.information {
                say("advertising \(quoted(name)) as \(information.address)")
            }
            try await server.run()
        }
    }
}
