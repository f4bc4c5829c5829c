import GatewayConfiguration
import GatewayESPHome
import GatewayPipeline
import Logging
import ServiceLifecycle

/// ESPHome's native API as a service. It stops before the gateway does, so that its clients' connections end properly.
public struct ESPHomeService: Service {
    private let server: ProxyServer

    /// - Parameters:
    ///   - hub: the source of advertisements.
    ///   - table: the places for connections.
    public init(
        _ settings: ESPHomeSettings, gateway: String, of service: GatewayService, hub: Hub, table: ConnectionTable,
        logger: Logger
    ) {
        let radio = service.radio(table, allowsPairing: settings.allowsPairing)
        let server = ProxyServer(
            ProxyEndpoint(host: settings.host, port: settings.port, key: settings.key),
            ProxyIdentity(gateway: gateway, version: GatewayVersion.number), radio: radio, logger: logger)
        self.server = server
        table.observe { [weak server] in server?.placesChanged() }
        hub.listen { [weak server] in server?.advertise($0) }
        service.observeScanning { [weak server] in server?.scanningChanged() }
    }

    /// The announcement of the API, for the program that publishes it.
    public static func announcement(_ settings: ESPHomeSettings, gateway: String) -> ProxyAnnouncement {
        ProxyAnnouncement(
            ProxyIdentity(gateway: gateway, version: GatewayVersion.number), port: settings.port,
            isEncrypted: settings.key != nil)
    }

    /// Serves the API until the service group shuts down.
    ///
    /// - Throws: `PortUnavailable` if the server cannot listen on its port.
    public func run() async throws {
        try await cancelWhenGracefulShutdown { try await server.run() }
    }
}
