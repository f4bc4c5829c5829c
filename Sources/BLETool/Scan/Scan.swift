import ArgumentParser
import BluetoothLE
import CommandLineSupport

/// `ble scan`: shows the devices in range, and how near they are.
struct Scan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the devices that advertise, and finally which of them is nearest.",
        discussion: HelpText.discussion(
            "Exits with status 3 if no device was seen.",
            examples: ["ble scan --timeout 5", "ble scan --service 180D --rssi -70..0"]))

    @OptionGroup var transport: TransportOptions

    @Flag(
        inversion: .prefixedNo, exclusivity: .exclusive,
        help: "Ask devices for their scan response.")
    var active = true

    @Flag(help: "Show every advertising event, not only what is new.")
    var duplicates = false

    @Option(
        name: .customLong("service"),
        help: ArgumentHelp("Only devices that list this service; several may be given.", valueName: "uuid"))
    var services: [BluetoothUUID] = []

    @Option(help: "Only devices whose name begins with this.")
    var name: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only devices with an RSSI in this range, in dBm, such as -70..0.", valueName: "min..max"))
    var rssi: SignalStrengths?

    @Option(help: ArgumentHelp("How long to scan.", valueName: "seconds"))
    var timeout = Seconds(10)

    func run() async throws {
        let filter = ScanFilter(services: services, name: name.map { .prefix($0) }, rssi: rssi?.range)
        let estimator = try await transport.withAdapter { adapter in
            let sightings = try await adapter.scan(
                for: filter, parameters: ScanParameters(isActive: active, reportsDuplicates: duplicates))
            // The distance is estimated from many measurements, whether they are shown or not.
            let measurements = try await adapter.scan(
                for: filter, parameters: ScanParameters(isActive: active, reportsDuplicates: true))

            let measuring = Task { await estimates(from: measurements) }
            try await show(sightings)
            measuring.cancel()
            return await measuring.value
        }
        try showNearestFirst(estimator.nearestFirst)
    }

    /// Shows a line for each sighting until the time is up or the output is closed.
    private func show(_ sightings: EventSequence<Sighting>) async throws {
        do {
            try await withTimeout(timeout.duration) { () throws(BluetoothError) in
                for try await sighting in sightings {
                    do { try writeLine(line(for: sighting)) } catch { throw .cancelled }
                }
            }
        } catch {
            guard error == .timedOut || error == .cancelled else { throw error }
            // The output was closed.
            if error == .cancelled, !Task.isCancelled { throw CommandFailure(.failure, nil) }
        }
    }

    private func estimates(from measurements: EventSequence<Sighting>) async -> ProximityEstimator {
        var estimator = ProximityEstimator()
        // It ends by cancellation; if the adapter fails, `show` reports that.
        do { for try await sighting in measurements { estimator.record(sighting) } } catch {}
        return estimator
    }

    private func showNearestFirst(_ estimates: [ProximityEstimator.Estimate]) throws {
        guard !estimates.isEmpty else {
            try Task.checkCancellation()
            throw CommandFailure(
                .notFound, "no matching device was seen in \(timeout) s; use a longer --timeout, or fewer filters")
        }
        try writeLine("\nNearest first:")
        for estimate in estimates { try writeLine(line(for: estimate)) }
    }
}
