import ArgumentParser
import GatewayConfiguration
import GatewayESPHome
import GatewayPipeline
import GatewayService

/// `ble-gateway announcement`: prints the service file with which Avahi announces ESPHome's API.
struct Announcement: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints a service file for Avahi, which then announces ESPHome's API.",
        discussion: """
            With the file, Home Assistant discovers the gateway automatically. Create the file again when the \
            gateway's name or the port changes, or when a key is added or removed.

            EXAMPLES
              ble-gateway announcement --config /etc/ble-gateway.yaml >/etc/avahi/services/ble-gateway.service
            """)

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        let configuration = try options.configuration()
        guard let settings = configuration.esphome else {
            throw ValidationError("the configuration has no section esphome, so there is nothing to announce")
        }
        print(ESPHomeService.announcement(settings, gateway: configuration.topics.gateway).serviceFile, terminator: "")
    }
}
