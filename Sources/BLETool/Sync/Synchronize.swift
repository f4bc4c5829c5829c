import ArgumentParser
import BluetoothCommandLine
import BluetoothLE

/// `ble sync`: receives periodic advertising.
struct Synchronize: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Receives the periodic advertising of a device.",
        discussion: HelpText.discussion(
            """
            The device's extended advertising says which of its sets have any: periodicInterval in ble scan --json. A line is \
            written for each event until the program is ended by a signal, or by --count or --time. Exits with status 3 if \
            the device was not found in time, or the controller has no periodic advertising, and with 4 if it was lost.
            """,
            examples: [
                "ble sync C0:11:22:33:44:55", "ble sync C0:11:22:33:44:55 --set 3 --json",
                "ble sync 00:1B:DC:00:00:01/P --coded --count 10",
            ]))

    @Argument(
        help: ArgumentHelp("The address of the device, such as C0:11:22:33:44:55; /P marks a public one."))
    var address: DeviceAddress

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "The number of its advertising set, 0 to 15; of several, the one that is found first.",
            valueName: "number"))
    var sets: [UInt8] = []

    @Flag(help: "Look for it on LE Coded, too, where long range advertising is. Takes a controller that has it.")
    var coded = false

    @Flag(help: "Print a JSON object for each line, with the time.")
    var json = false

    @Option(help: "End after so many reports.")
    var count: PositiveCount?

    @Option(help: ArgumentHelp("End after this time, from when it was found on.", valueName: "seconds"))
    var time: Seconds?

    @Option(help: ArgumentHelp("How long finding it may take.", valueName: "seconds"))
    var timeout = Seconds(30)

    @OptionGroup var transport: TransportOptions

    func validate() throws {
        guard sets.allSatisfy({ $0 <= 15 }) else { throw ValidationError("--set is from 0 to 15") }
        guard Set(sets).count == sets.count else { throw ValidationError("each --set is given once") }
    }

    func run() async throws {
        let peer = PeerID(address)
        let advertisers = (sets.isEmpty ? [0] : sets).map { PeriodicAdvertiser(peer: peer, sid: $0) }
        try await transport.withAdapter(timeout: timeout) { adapter in
            let sync: PeriodicSync
            do throws(BluetoothError) {
                sync = try await adapter.synchronize(
                    with: advertisers,
                    parameters: PeriodicSyncParameters(phys: coded ? [.le1M, .leCoded] : .le1M),
                    timeout: timeout.duration)
            } catch {
                guard error == .timedOut else { throw error }
                throw CommandFailure(
                    .notFound,
                    "no periodic advertising of \(address) was found in \(timeout) s; ble scan --json says which sets have any"
                )
            }
            let information = sync.information
            say("ble: \(information.address), set \(information.sid), every \(information.interval)")
            defer {
                if sync.droppedCount > 0 { say("ble: \(sync.droppedCount) reports were lost: the output is slow") }
            }
            try await show(sync)
        }
    }

    private func show(_ sync: PeriodicSync) async throws {
        let (json, count) = (json, count?.value)
        do throws(BluetoothError) {
            try await within(time) { () throws(BluetoothError) in
                var left = count
                for try await report in sync {
                    do throws(CommandFailure) {
                        try writeToStandardOutput(Self.line(report, sync.information, json: json))
                    } catch {
                        // Whoever read it has gone.
                        return
                    }
                    left = left.map { $0 - 1 }
                    if left == 0 { return }
                }
            }
        } catch {
            guard error == .timedOut else { throw error }
        }
    }

    private static func line(
        _ report: PeriodicAdvertisement, _ information: PeriodicSyncInformation, json: Bool
    ) -> [UInt8] {
        guard json else {
            let strength = report.rssi.map { "\($0) dBm" } ?? "? dBm"
            let end = report.isTruncated ? " …" : ""
            return Array("\(strength)  \(report.data.hexadecimal())\(end)\n".utf8)
        }
        var object = JSONObject(capacity: 128 + 2 * report.data.count)
        object.add("time", Timestamp.now.description)
        object.add("address", information.address.description)
        object.add("sid", information.sid)
        object.add("rssi", report.rssi)
        object.add("txPower", report.txPowerLevel)
        object.add("subevent", report.subevent)
        object.add("truncated", report.isTruncated)
        object.add("data", hexadecimal: report.data)
        return object.line()
    }
}
