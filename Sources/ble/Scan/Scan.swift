import ArgumentParser
import BluetoothLE
import BluetoothCommandLine
import BluetoothValues

/// `ble scan`: shows the devices in range, and how near they are.
struct Scan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the devices that advertise.",
        discussion: HelpText.discussion(
            """
            On a terminal, shows a table that is updated until you press q. Its last line lists the keys. Elsewhere, \
            prints a line for each device that is new or advertises something new, for 10 seconds, and then the \
            devices, nearest first. With --json, each line is an object, and the scan runs until a signal ends it.

            Decodes iBeacon, Eddystone, BTHome and RuuviTag data. A bonded device is shown with its identity and its \
            name, whatever private address it uses. Each extended advertising set has its own line. Exits with status \
            3 if no device was seen.
            """,
            examples: [
                "ble scan", "ble scan --service 180D --rssi -70..0",
                "ble scan --json --service FCD2 --keys bthome.keys", "ble scan --coded",
            ]))

    @OptionGroup var transport: TransportOptions

    @Flag(
        inversion: .prefixedNo, exclusivity: .exclusive,
        help: "Request scan responses from devices.")
    var active = true

    @Flag(help: "Also scan on LE Coded, for long-range advertising. Requires a controller that supports it.")
    var coded = false

    @Flag(help: "Show every advertising event, not only new data.")
    var duplicates = false

    @Flag(help: "Print each line as a JSON object, with the time.")
    var json = false

    @Option(
        name: .customLong("service"),
        help: ArgumentHelp(
            "Only devices that list this service or advertise data for it. Can be repeated.", valueName: "uuid"))
    var services: [BluetoothUUID] = []

    @Option(help: "Only devices whose name begins with this text.")
    var name: String?

    @Option(
        name: .customLong("address"),
        help: ArgumentHelp("Only the device with this address. Can be repeated.", valueName: "address"))
    var addresses: [DeviceAddress] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only devices with an RSSI in this range, in dBm, such as -70..0.", valueName: "min..max"))
    var rssi: SignalStrengths?

    @Option(
        name: [.customLong("time"), .customLong("timeout")],
        help: ArgumentHelp(
            "How long to scan. Defaults to 10 seconds; on a terminal and with --json, to no limit.",
            valueName: "seconds"))
    var time: Seconds?

    @Option(
        help: ArgumentHelp(
            "A file with the keys of encrypted BTHome devices: an address and 32 hexadecimal digits on each line.",
            valueName: "file"),
        completion: .file())
    var keys: String?

    /// The form in which devices are shown.
    enum Form {
        case table, lines, json
    }

    func run() async throws {
        let form: Form = json ? .json : LiveScreen.isPossible ? .table : .lines
        let time = time ?? (form == .lines ? Seconds(10) : nil)
        let devices = ScanSession(
            ScanTable(services: services, keys: try keys.map(BTHomeKeys.init(path:)) ?? BTHomeKeys()),
            reportsDuplicates: duplicates)
        let filter = ScanFilter(name: name.map { .prefix($0) }, addresses: addresses, rssi: rssi?.range)
        try await transport.withAdapter(timeout: time) { adapter in
            let bonds = try await adapter.bonds
            devices.withTable { $0.know(bonds) }
            guard let time else {
                return try await Attempts.unlimited(on: adapter) {
                    try await scan(filter, on: adapter, devices, form, for: nil)
                }
            }
            let attempts = Attempts(within: time)
            try await attempts.run(on: adapter) {
                try await scan(filter, on: adapter, devices, form, for: attempts.left)
            }
        }
        guard devices.shownCount > 0 else {
            try Task.checkCancellation()
            throw CommandFailure(
                .notFound,
                "no matching device was seen\(time.map { " in \($0) s" } ?? ""); scan longer with --time, or give fewer filters"
            )
        }
        if !json { try showNearestFirst(devices.nearestFirst, limit: form == .table ? 10 : .max) }
    }

    private func scan(
        _ filter: ScanFilter, on adapter: Adapter, _ devices: ScanSession, _ form: Form, for time: Duration?
    ) async throws {
        // Distances and the table also need repeated reports.
        let sightings = adapter.scan(
            for: filter,
            parameters: ScanParameters(
                isActive: active, reportsDuplicates: true, phys: coded ? [.le1M, .leCoded] : .le1M))
        defer { tellLoss(sightings.droppedCount) }
        do {
            switch form {
            case .table: try await LiveScan(devices).run(sightings, for: time)
            case .lines: try await devices.show(sightings, for: time) { $0.line }
            case .json: try await devices.show(sightings, for: time) { $0.jsonLine }
            }
        } catch let error as BluetoothError where error.missingFeature != nil {
            throw CommandFailure(error) { $0 == .leCoded && coded ? "--coded" : nil }
        }
    }

    private func tellLoss(_ count: Int) {
        guard count > 0 else { return }
        say("ble: lost \(counted(count, "advertising event")) because the output was read too slowly")
    }

    private func showNearestFirst(_ devices: [NearDevice], limit: Int) throws {
        guard !devices.isEmpty else { return }
        try writeLine("\nNearest first:")
        for device in devices.prefix(limit) { try writeLine(ScanText.line(for: device)) }
        if devices.count > limit { try writeLine("… and \(devices.count - limit) more") }
    }
}
