import ArgumentParser
import GatewayConfiguration
import GatewayESPHome
import GatewayPipeline
import GatewayService

/// `ble-gateway announcement`: prints the service file with which Avahi announces ESPHome's API.
struct Announcement: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints a service file with which Avahi announces the API of ESPHome.",
        discussion: """
            With it Home Assistant finds the gateway by itself. The file depends on the gateway's name, the port and on whether \
            there is a key, so it is to be made anew when one of them changes.

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
