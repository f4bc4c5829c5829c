import ArgumentParser
import Foundation
import GatewayConfiguration
import GatewayMQTT
import GatewayPipeline
import GatewayService
import Logging
import ServiceLifecycle
import Synchronization

/// `ble-gateway`, or `ble-gateway run`: scans and publishes.
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Scans with every adapter of the machine, and publishes the advertisements.",
        discussion: """
            Runs until a signal ends it. If an adapter or the broker goes away, the gateway uses it again when it is \
            back. Gateway/README.md documents the configuration.

            EXAMPLES
              ble-gateway --broker mqtt://localhost
              ble-gateway --dry-run --transport unix:a
              ble-gateway --config /etc/ble-gateway.yaml
            """)

    @OptionGroup var options: GatewayOptions

    @Option(help: ArgumentHelp("homeassistant, theengs or raw.", valueName: "name"))
    var preset: PresetName?

    @Option(
        name: .customLong("transport"),
        help: ArgumentHelp(
            "An adapter to scan with: hci0, or a transport such as unix:PATH or tcp-client:HOST:PORT; may be "
                + "repeated. Defaults to BLUETOOTH_TRANSPORT in the environment, or else to all adapters.",
            valueName: "name"))
    var transports: [String] = []

    @Option(
        name: .customLong("esphome-api"),
        help: ArgumentHelp(
            "Serve ESPHome's native API as a Bluetooth proxy, with --esphome-key-file or --esphome-api-open.",
            valueName: "[address]:port"))
    var esphomeAPI: String?

    @Option(
        help: ArgumentHelp(
            "A file whose first line is the key of ESPHome's API: 32 octets in Base64.", valueName: "file"),
        completion: .file())
    var esphomeKeyFile: String?

    @Flag(
        name: .customLong("esphome-api-open"),
        help: "Serve ESPHome's API without a key: anyone who can reach it can connect to devices.")
    var esphomeAPIOpen = false

    @Flag(help: "Print the messages instead of publishing them; no broker is needed.")
    var dryRun = false

    @Option(
        help: ArgumentHelp(
            "Read packets from a file instead of adapters, in the format of the preset raw, and replay them at their "
                + "times. With -, read standard input, and handle packets as they arrive. Ends after the last packet.",
            valueName: "file"), completion: .file())
    var replay: String?

    func run() async throws {
        var configuration = try options.configuration()
        if let preset { configuration.choose(preset) }
        try readESPHome(&configuration)
        if let replay, replay != "-", !FileManager.default.isReadableFile(atPath: replay) {
            throw ValidationError("\(replay) cannot be read")
        }
        if let reason = configuration.pipeline.missingCiphers { throw reason }
        if !transports.isEmpty { configuration.adapters = transports }
        if configuration.adapters.isEmpty, let name = ProcessInfo.processInfo.environment["BLUETOOTH_TRANSPORT"],
            !name.isEmpty
        {
            configuration.adapters = [name]
        }
        var logger = Logger(label: "ble-gateway") { label in StandardErrorLog(label: label) }
        logger.logLevel = .info
        if dryRun {
            try await run(configuration, LineSink(), logger)
        } else {
            guard let broker = configuration.broker else {
                guard configuration.esphome == nil else { return try await run(configuration, NoSink(), logger) }
                throw ValidationError(
                    "no broker is set; give --broker mqtt://HOST, or --config with broker.url, or --dry-run")
            }
            try await run(configuration, broker, logger)
        }
    }

    /// Applies the options for ESPHome's API.
    private func readESPHome(_ configuration: inout Configuration) throws {
        guard let esphomeAPI else {
            guard esphomeKeyFile == nil, !esphomeAPIOpen else {
                throw ValidationError("--esphome-key-file and --esphome-api-open require --esphome-api")
            }
            return
        }
        guard var settings = ESPHomeSettings(listen: esphomeAPI) else {
            throw ValidationError("--esphome-api must be :PORT or ADDRESS:PORT")
        }
        guard (esphomeKeyFile == nil) == esphomeAPIOpen else {
            throw ValidationError(
                "ESPHome's API needs either a key (openssl rand -base64 32 >FILE, then --esphome-key-file FILE) "
                    + "or --esphome-api-open, which lets anyone connect")
        }
        if let path = esphomeKeyFile {
            guard let text = GatewayOptions.contents(of: path),
                let key = ESPHomeSettings.key(text.prefix { !$0.isNewline })
            else { throw ValidationError("the first line of \(path) must be 32 octets in Base64") }
            settings.key = key
        }
        settings.allowsPairing = configuration.esphome?.allowsPairing ?? false
        configuration.esphome = settings
    }

    private func run(
        _ configuration: Configuration, _ sink: any Sink, _ logger: Logger
    ) async throws {
        let hub = Hub(configuration, sink: sink)
        let gateway = try gateway(configuration, hub, sink, logger) { SinkStatus() }
        let table = ConnectionTable(limit: configuration.remote.connections)
        try await run([gateway] + users(configuration, gateway, hub, table, logger), logger)
    }

    /// The configured services that connect to devices. They need no broker.
    private func users(
        _ configuration: Configuration, _ gateway: GatewayService, _ hub: Hub, _ table: ConnectionTable,
        _ logger: Logger
    ) -> [any Service] {
        var users: [any Service] = []
        if !configuration.read.devices.isEmpty {
            users.append(
                ValueReader(configuration.read, hub: hub, table: table, adapter: gateway.adapter, logger: logger))
        }
        if let settings = configuration.esphome {
            users.append(
                ESPHomeService(
                    settings, gateway: configuration.topics.gateway, of: gateway, hub: hub, table: table,
                    logger: logger))
        }
        return users
    }

    private func run(_ configuration: Configuration, _ broker: BrokerSettings, _ logger: Logger) async throws {
        let preset = configuration.makePreset()
        let relay = Relay()
        var options = MQTTSink.Options(
            broker: broker, clientID: broker.clientID ?? "ble-gateway-\(configuration.topics.gateway)",
            spoolPath: try SpoolPlace.path(configuration), spool: configuration.spool,
            availabilityTopic: preset.availabilityTopic, logger: logger)
        options.onConnect = { relay.connected() }
        let isRemote = !configuration.remote.allowed.isEmpty
        if isRemote {
            options.subscriptions = [configuration.topics.gatewayRoot + "/request"]
            options.onMessage = { relay.received($0) }
        }
        let sink: MQTTSink
        do {
            sink = try MQTTSink(options)
        } catch {
            throw ProgramFailure(description: "\(error)")
        }
        let hub = Hub(configuration, sink: sink)
        relay.hub.withLock { $0 = hub }
        let gateway = try gateway(configuration, hub, sink, logger) { sink.status }
        var services: [any Service] = [MQTTService(sink), gateway]
        let table = ConnectionTable(limit: configuration.remote.connections)
        services += users(configuration, gateway, hub, table, logger)
        if isRemote {
            let remote = RemoteHands(
                configuration.remote, configuration.topics, table: table, of: gateway, logger: logger)
            remote.use(sink)
            relay.remote.withLock { $0 = remote }
            services.append(remote)
        }
        try await run(services, logger)
    }

    private func gateway(
        _ configuration: Configuration, _ hub: Hub, _ sink: any Sink, _ logger: Logger,
        status: @escaping @Sendable () -> SinkStatus
    ) throws -> GatewayService {
        do throws(ConfigurationError) {
            return try GatewayService(
                configuration, hub: hub, sink: sink, status: status, replay: replay, logger: logger)
        } catch {
            throw ValidationError("\(error)")
        }
    }

    private func run(_ services: [any Service], _ logger: Logger) async throws {
        var quiet = logger
        // Users are not interested in the start and end of each service.
        quiet.logLevel = .warning
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services.map {
                    .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup)
                },
                logger: quiet))
        // The group remembers a shutdown that is requested before it runs.
        let signals = await StopSignals { Task { await group.triggerGracefulShutdown() } }
        defer { withExtendedLifetime(signals) {} }
        try await group.run()
    }
}

extension PresetName: ExpressibleByArgument {}
