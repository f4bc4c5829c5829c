import ArgumentParser
import BluetoothDocuments
import BluetoothLE
import BluetoothCommandLine

/// `ble record`: records a device in a file.
struct Record: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Records a device to a file, for ble replay.",
        discussion: HelpText.discussion(
            """
            The file contains the advertising data, the database with all handles, every readable value, the errors of \
            the other values, and the notifications within the time, with their times. It is written only when the \
            recording is complete.
            """,
            examples: [
                "ble record C0:11:22:33:44:55 thermometer.json", "ble record Thermometer thermometer.json --time 60",
            ]))

    @OptionGroup var transport: TransportOptions

    @OptionGroup var pairing: PairingOptions

    @OptionGroup var device: DeviceOptions

    @Argument(help: "The file to write.", completion: .file(extensions: ["json"]))
    var file: String

    @Option(help: ArgumentHelp("How long to record notifications.", valueName: "seconds"))
    var time = Seconds(10)

    /// The time limit for a scan response.
    private static let patience = Duration.seconds(2)

    func run() async throws {
        let document = try await transport.withAdapter(within: device.timeout, pairing: pairing) { adapter, attempts in
            let search = DeviceSearch(attempts)
            return try await attempts.run(on: adapter) {
                let sighting = try await sighting(on: adapter, search)
                let connection = try await search.connect(to: sighting, on: adapter)
                try await pairing.protect(connection)
                let survey = try await DeviceRecording.survey(connection, attempts)
                var document = try await DeviceRecording.record(connection, survey, for: time)
                try? await connection.disconnect()
                describe(sighting, in: &document)
                return document
            }
        }
        try DocumentFile.write(document, to: file)
        say(
            "ble: recorded \(counted(document.services.count, "service")) and "
                + "\(counted(document.notifications.count, "notification")) in \(file)")
    }

    /// The device's advertising data, with its scan response if it has one.
    private func sighting(on adapter: Adapter, _ search: DeviceSearch) async throws -> Sighting {
        let address = try await search.address(of: device.device, on: adapter)
        let first = try await search.firstSighting(
            for: ScanFilter(addresses: [address]), of: "\(device.device)", on: adapter)
        let latest = LatestSighting(first)
        let sightings = adapter.scan(for: ScanFilter(peers: [first.peer]))
        do throws(BluetoothError) {
            try await withTimeout(Self.patience) { () throws(BluetoothError) in
                for try await sighting in sightings {
                    await latest.take(sighting)
                    if !sighting.scanResponseData.isEmpty, !sighting.advertisingData.isEmpty { return }
                }
            }
        } catch {
            // The device has no scan response.
            guard error == .timedOut else { throw error }
        }
        return await latest.sighting
    }

    private actor LatestSighting {
        private(set) var sighting: Sighting

        init(_ sighting: Sighting) { self.sighting = sighting }

        func take(_ sighting: Sighting) { self.sighting = sighting }
    }

    private func describe(_ sighting: Sighting, in document: inout DeviceDocument) {
        document.address = sighting.address
        document.name = sighting.name ?? document.deviceName
        document.isConnectable = true
        let longest = max(sighting.advertisingData.count, sighting.scanResponseData.count)
        guard longest <= 31 else {
            return say(
                "ble: the device advertises \(longest) octets at once, which cannot be replayed; "
                    + "they are left out")
        }
        document.advertisement = .octets(sighting.advertisingData)
        if !sighting.scanResponseData.isEmpty { document.scanResponse = .octets(sighting.scanResponseData) }
    }
}
