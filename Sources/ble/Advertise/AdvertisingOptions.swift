import ArgumentParser
import BluetoothBase
import BluetoothGAP
import BluetoothLE
import BluetoothCommandLine

/// The options that apply to advertising of any kind.
struct AdvertisingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The advertising interval, 20 to 10240 ms. Before Bluetooth 5.0, controllers need at least 100 ms if not "
                + "connectable.",
            valueName: "ms"))
    var interval = 100

    @Option(help: ArgumentHelp("How long to advertise; by default until a signal ends it.", valueName: "seconds"))
    var time: Seconds?

    func validate() throws {
        guard (20...10_240).contains(interval) else { throw ValidationError("--interval must be from 20 to 10240 ms") }
    }

    /// Advertises until the time is up or the program is asked to end.
    func run(
        _ transport: TransportOptions, data: [UInt8], scanResponse: [UInt8] = [], isConnectable: Bool,
        extended: ExtendedOptions? = nil
    ) async throws {
        let interval = Duration.milliseconds(interval), time = limited(data)
        try await transport.withAdapter(timeout: time) { adapter in
            let events = adapter.events()
            var set: AdvertisingSet?
            if let extended, extended.isSet {
                let parameters = extended.parameters(
                    data: data, scanResponse: scanResponse, isConnectable: isConnectable, interval: interval...interval)
                do {
                    set = try await Attempts.untilTaken(on: adapter) { () throws(BluetoothError) in
                        try await adapter.addAdvertisingSet(parameters)
                    }
                } catch let error as BluetoothError where error.missingFeature != nil {
                    throw CommandFailure(error, option: extended.option(needing:))
                }
            } else {
                try await Attempts.untilTaken(on: adapter) { () throws(BluetoothError) in
                    try await adapter.advertise(
                        octets: data, scanResponse: scanResponse, isConnectable: isConnectable,
                        interval: interval...interval)
                }
            }
            let what = extended?.directed.map { data.isEmpty ? "to \($0)" : "\(data.hexadecimal()) to \($0)" }
            say("ble: advertising \(what ?? data.hexadecimal())" + (time.map { " for \($0) s" } ?? ""))
            do throws(BluetoothError) {
                try await within(time?.duration) { [set] () throws(BluetoothError) in
                    if let set {
                        let teller = Task { for try await event in events { Self.tell(event) } }
                        defer { teller.cancel() }
                        try await set.waitUntilEnded()
                        // Devices that have connected in the meantime stay connected.
                        for connection in adapter.connections { try await connection.waitForDisconnection() }
                        return
                    }
                    // If the adapter fails, this throws.
                    for try await event in events { Self.tell(event) }
                }
            } catch {
                guard error == .timedOut else { throw error }
            }
        }
    }

    /// The advertising time, which is limited in limited discoverable mode (Core 5.4, Vol 3, Part C, 9.2.3).
    private func limited(_ data: [UInt8]) -> Seconds? {
        guard ADView(data.span).flags?.contains(.limitedDiscoverable) == true else { return time }
        let limit = Seconds(180)
        guard let time, time.duration < limit.duration else { return limit }
        return time
    }

    private static func tell(_ event: AdapterEvent) {
        switch event {
        case .connected(let connection): say("ble: \(connection.address) has connected")
        case .disconnected(let connection, let reason): say("ble: \(connection.address) has disconnected: \(reason)")
        default: break
        }
    }
}

/// Octets in hexadecimal, up to the maximum length of advertising data.
struct AdvertisedOctets: ExpressibleByArgument {
    var octets: [UInt8]

    init?(argument: String) {
        guard let octets = [UInt8](hexadecimal: argument), octets.count <= 1650 else {
            ArgumentRefusal.note(argument, "give at most 1650 octets in hexadecimal, such as 020106")
            return nil
        }
        self.octets = octets
    }
}
