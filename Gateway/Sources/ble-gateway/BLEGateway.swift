import ArgumentParser
import GatewayService

/// `ble-gateway`.
@main
struct BLEGateway: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ble-gateway",
        abstract: "Publishes the advertisements of Bluetooth LE devices to an MQTT broker.",
        version: "ble-gateway \(GatewayVersion.number)",
        subcommands: [Run.self, Status.self, Announcement.self], defaultSubcommand: Run.self)
}

/// A failure that ends the program with a message of one line.
struct ProgramFailure: Error, CustomStringConvertible {
    var description: String
}
