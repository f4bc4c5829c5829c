import ArgumentParser
import BluetoothAdapter
import BluetoothHost
import BusService
import CSystemd
import DBus
import Glibc
import HCITransport

/// `ble-bus`.
@main
struct BLEBus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ble-bus",
        abstract: "Provides a Bluetooth LE adapter to the programs on a D-Bus, under the name org.bluez.",
        discussion: """
            Programs that use BlueZ, such as bleak and bluetoothctl, then use this adapter instead, unchanged. Programs \
            that look for the system bus find another bus in DBUS_SYSTEM_BUS_ADDRESS.

            EXAMPLES
              ble-bus --transport hci-socket:0
              ble-bus --transport unix-client:radio --bus unix:path=/tmp/bus
            """,
        version: "ble-bus \(Version.number)")

    @Option(
        help: ArgumentHelp(
            "Where the controller is: hci-socket[:ADAPTER], tcp-client:HOST:PORT, unix-client:PATH, "
                + "unix-server:PATH, serial:DEVICE[,BAUD][,rtscts] or another transport of ble. Defaults to "
                + "$BLUETOOTH_TRANSPORT, or without it to this machine's first adapter.",
            valueName: "name"))
    var transport: String?

    @Option(help: ArgumentHelp("The bus: system, session or a D-Bus address.", valueName: "address"))
    var bus = "system"

    @Option(
        help: ArgumentHelp(
            "The directory of the bonds. Defaults to $STATE_DIRECTORY/bonds, or to "
                + "$XDG_STATE_HOME/swift-bluetooth-le/bonds.", valueName: "directory"),
        completion: .directory)
    var bonds: String?

    @Option(help: "The version of BlueZ to answer like.")
    var profile = Profile.bookworm

    @Option(help: ArgumentHelp("The name of this device; defaults to the machine's.", valueName: "name"))
    var name: String?

    @Option(
        help: ArgumentHelp("Record the packets to and from the controller, for Wireshark.", valueName: "file"),
        completion: .file())
    var btsnoop: String?

    func run() throws {
        // Before the adapter starts its threads, which inherit the blocked signals.
        let signals = busSignalDescriptor(SIGTERM, SIGINT)
        let transport = try transportName()
        let runner: AdapterRunner
        do throws(BluetoothError) {
            runner = try AdapterRunner(transport, options: try options())
        } catch {
            throw Failure(description: "\(transport): \(error)")
        }
        defer { runner.close() }
        do throws(BusFailure) {
            let settings = DaemonSettings(
                bus: BusAddress(bus), profile: profile, name: name ?? Machine.name,
                adapterNumber: transport.adapterNumber, report: Log.write)
            let daemon = try BusDaemon(settings, runner)
            if signals >= 0 { try daemon.watch(signals) { daemon.stop() } }
            Log.write("org.bluez is on the bus \(bus), with the controller at \(transport)")
            sd_notify(0, "READY=1")
            try daemon.run()
            sd_notify(0, "STOPPING=1")
        } catch {
            throw Failure(description: "\(error)")
        }
        if let failure = runner.failure, failure.code != .adapterClosed {
            throw Failure(description: "\(transport): \(failure)")
        }
    }

    private func transportName() throws -> TransportName {
        let text = transport ?? getenv("BLUETOOTH_TRANSPORT").map { String(cString: $0) } ?? "hci-socket"
        do {
            return try TransportName(text)
        } catch {
            throw ValidationError("\(text): \(error)")
        }
    }

    private func options() throws(BluetoothError) -> AdapterOptions {
        var options = AdapterOptions(captureFile: btsnoop)
        options.retriesOpening = true
        options.host.deviceName = name ?? Machine.name
        options.report = { Log.write("\($0)") }
        options.reportBonds = { Log.write("\($0)") }
        options.reportMissingCiphers = { Log.write("devices cannot pair with this one: \($0)") }
        options.bonds = bonds.map { FileBondStore(directory: $0) } ?? (try? FileBondStore())
        return options
    }
}

extension Profile: ExpressibleByArgument {}

/// A failure that ends the program with a message of one line.
struct Failure: Error, CustomStringConvertible {
    var description: String
}
