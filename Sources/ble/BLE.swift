import ArgumentParser
import BluetoothCommandLine
import RadioCommand

/// Tools for Bluetooth LE. Each subcommand has its own file.
@main
struct BLE: CommandLineProgram {
    static let configuration = CommandConfiguration(
        commandName: "ble", abstract: "Tools for Bluetooth LE.",
        discussion: HelpText.discussion(
            """
            Commands use the adapter that --transport names, otherwise the one in the environment variable \
            BLUETOOTH_TRANSPORT, otherwise this machine's first adapter. Give a device by its address, or by its name \
            if that is unique.
            """,
            examples: ["ble scan", "ble read Thermometer 2A1C", "ble decode capture.btsnoop"]),
        version: ProgramVersion.line(of: "ble"),
        subcommands: [
            Adapters.self, Scan.self, Inspect.self, Read.self, Write.self, Notify.self, Serve.self, Record.self,
            Replay.self, Bench.self, Advertise.self, Beacon.self, Monitor.self, Radio.self, Pair.self, L2CAP.self,
            Bonds.self, Decode.self, Simulate.self, Synchronize.self,
        ])
}
