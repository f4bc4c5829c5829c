import ArgumentParser
import BluetoothBase
import BluetoothCommandLine
import BluetoothHCI
import BluetoothLE
import Synchronization

/// `ble sync`: receives periodic advertising.
struct Synchronize: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Receives the periodic advertising of a device.",
        discussion: HelpText.discussion(
            """
            Without --set, finds the device's set with periodic advertising. If several sets have it, lists them and \
            exits with status 2. Prints a line for each event until a signal, --count or --time ends it. Exits with \
            status 3 if the device or its set was not found in time, or if the controller does not support periodic \
            advertising. Exits with status 4 if the periodic advertising was lost.
            """,
            examples: [
                "ble sync Clock", "ble sync C0:11:22:33:44:55 --set 3 --json",
                "ble sync 00:1B:DC:00:00:01/P --coded --count 10",
            ]))

    @Argument(
        help: ArgumentHelp(
            "The device's address, such as C0:11:22:33:44:55 (/P marks a public one), or its exact name if no other "
                + "device in range has it. See ble scan.",
            valueName: "device"))
    var device: DeviceSelector

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "The number of its advertising set, 0 to 15. If repeated, uses the first set found.",
            valueName: "number"))
    var sets: [UInt8] = []

    @Flag(help: "Also scan on LE Coded, for long-range advertising. Requires a controller that supports it.")
    var coded = false

    @Flag(help: "Print each line as a JSON object, with the time.")
    var json = false

    @Option(help: "Stop after this many reports.")
    var count: PositiveCount?

    @Option(help: ArgumentHelp("Stop after this time, counted from the first synchronization.", valueName: "seconds"))
    var time: Seconds?

    @Option(help: ArgumentHelp("The time limit for finding the device and synchronizing.", valueName: "seconds"))
    var timeout = Seconds(30)

    @OptionGroup var transport: TransportOptions

    func validate() throws {
        guard sets.allSatisfy({ $0 <= 15 }) else { throw ValidationError("--set must be from 0 to 15") }
        guard Set(sets).count == sets.count else { throw ValidationError("give each --set only once") }
    }

    func run() async throws {
        try await transport.withAdapter(within: timeout) { adapter, attempts in
            guard adapter.information?.features.contains(.periodicAdvertising) ?? true else {
                throw CommandFailure(.notSupported(.periodicSynchronization)) { _ in nil }
            }
            let search = DeviceSearch(attempts)
            let left = Countdown(count?.value)
            // From the first synchronization, across attempts.
            var period: Attempts?
            try await attempts.run(on: adapter) {
                let sync: PeriodicSync
                do {
                    sync = try await synchronize(on: adapter, search)
                } catch let error as BluetoothError where error.missingFeature != nil {
                    throw CommandFailure(error) { $0 == .leCoded && coded ? "--coded" : nil }
                }
                let information = sync.information
                say("ble: \(information.address), set \(information.sid), every \(information.interval)")
                defer {
                    if sync.droppedCount > 0 {
                        say("ble: lost \(counted(sync.droppedCount, "report")) because the output was read too slowly")
                    }
                }
                period = period ?? time.map(Attempts.init(within:))
                try await show(sync, left, for: period?.left)
            }
        }
    }

    private var phys: ScanPHYs { coded ? [.le1M, .leCoded] : .le1M }

    /// Finds the device and its set, and synchronizes with the set.
    private func synchronize(on adapter: Adapter, _ search: DeviceSearch) async throws -> PeriodicSync {
        let parameters = ScanParameters(reportsDuplicates: false, phys: phys)
        let address: DeviceAddress
        switch device {
        case .address(let given): address = given
        case .name(let name):
            address = try await search.sighting(
                named: name, for: ScanFilter(), parameters: parameters, on: adapter
            ).address
        }
        let scan = SetScan(address)
        let wanted = try await scan.run(for: sets, parameters: parameters, on: adapter, search.attempts)
        let peer = PeerID(address)
        do throws(BluetoothError) {
            return try await adapter.synchronize(
                with: wanted.map { PeriodicAdvertiser(peer: peer, sid: $0) },
                parameters: PeriodicSyncParameters(phys: phys), timeout: search.attempts.left)
        } catch {
            guard error == .timedOut else { throw error }
            throw scan.absence(of: sets, timeout)
        }
    }

    private func show(_ sync: PeriodicSync, _ left: Countdown, for time: Duration?) async throws {
        let json = json
        let written: Result<Void, CommandFailure>
        do throws(BluetoothError) {
            written = try await within(time) { () throws(BluetoothError) -> Result<Void, CommandFailure> in
                for try await report in sync {
                    do throws(CommandFailure) {
                        try writeToStandardOutput(Self.line(report, sync.information, json: json))
                    } catch {
                        return .failure(error)
                    }
                    if left.isOver() { break }
                }
                return .success(())
            }
        } catch {
            guard error == .timedOut else { throw error }
            return
        }
        try written.get()
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

/// The number of reports until the limit, across several synchronizations.
private final class Countdown: Sendable {
    private let left: Mutex<Int?>

    /// - Parameter count: nil for no limit.
    init(_ count: Int?) { left = Mutex(count) }

    /// Counts a report. Returns whether it was the last one.
    func isOver() -> Bool {
        left.withLock { left in
            left = left.map { $0 - 1 }
            return left == 0
        }
    }
}
