import ArgumentParser
import CommandLineSupport

/// Tools around Bluetooth LE, each a subcommand in a file of its own.
@main
struct BLE: CommandLineProgram {
    static let configuration = CommandConfiguration(
        commandName: "ble", abstract: "Tools around Bluetooth LE.",
        subcommands: [
            Adapters.self, Radio.self, Scan.self, Pair.self, Bonds.self, Decode.self, Simulate.self,
        ])
}
