import BluetoothLE
import Foundation
import GatewayConfiguration
import GatewayMQTT
import GatewayPipeline
import Logging
import ServiceLifecycle
import Synchronization

/// The gateway as a service, from the adapters to a sink.
public struct GatewayService: Service {
    private let configuration: Configuration
    private let hub: Hub
    private let fleet: AdapterFleet
    private let sink: any Sink
    private let status: @Sendable () -> SinkStatus
    private let clock: GatewayClock
    private let notifier: ServiceManager
    private let replay: ReplaySource?
    private let scanningChanged = Listener()

    /// Is notified when an adapter starts or stops scanning.
    private final class Listener: Sendable {
        let call = Mutex<@Sendable () -> Void>({})
    }

    /// - Parameters:
    ///   - status: returns the state of the sink's connection to its broker.
    ///   - replay: a file of packets to use instead of adapters; `-` is standard input.
    /// - Throws: an error if the name of an adapter is invalid.
    public init(
        _ configuration: Configuration, hub: Hub, sink: any Sink, status: @escaping @Sendable () -> SinkStatus,
        replay: String? = nil, clock: GatewayClock = .system, logger: Logger
    ) throws(ConfigurationError) {
        self.configuration = configuration
        self.hub = hub
        self.sink = sink
        self.status = status
        self.clock = clock
        fleet = try AdapterFleet(configuration, hub: hub, logger: logger)
        notifier = ServiceManager()
        self.replay = replay.map { ReplaySource($0, hub: hub, clock: clock, logger: logger) }
    }

    /// Selects an adapter to connect to a device with. Returns the adapter and its name.
    public var adapter: @Sendable (DeviceAddress) -> (Adapter, String)? {
        { [fleet] in fleet.adapter(for: $0) }
    }

    /// Removes the bonds with a device.
    var unpair: @Sendable (DeviceAddress) async throws(BluetoothError) -> Void {
        { [fleet] device throws(BluetoothError) in try await fleet.unpair(device) }
    }

    /// The adapters, as used by clients of ESPHome's API.
    func radio(_ table: ConnectionTable, allowsPairing: Bool) -> FleetRadio {
        FleetRadio(fleet: fleet, table: table, allowsPairing: allowsPairing)
    }

    func observeScanning(_ body: @escaping @Sendable () -> Void) { scanningChanged.call.withLock { $0 = body } }

    /// Publishes reports until the service group shuts down, or until a replay reaches the end of its file. Delayed
    /// reports are published at the end.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup { group in
                group.addTask {
                    if let replay { await replay.run() } else { await fleet.run() }
                }
                group.addTask { await tick() }
                group.addTask { await tellHealth() }
                // A replay ends with its file. The other tasks end when this task is cancelled.
                await group.next()
                group.cancelAll()
            }
        }
        hub.finish()
        notifier.tell("STOPPING=1")
    }

    /// Performs the work that is due, four times per second, and reports to the service manager that it still runs.
    private func tick() async {
        notifier.tell("READY=1")
        var turns = 0
        while !Task.isCancelled {
            hub.advance()
            // Once per second is more often than any sensible watchdog interval requires.
            if turns % 4 == 0 { notifier.tell("WATCHDOG=1") }
            turns += 1
            try? await Task.sleep(for: .milliseconds(250))
        }
    }

    private func tellHealth() async {
        let start = clock.instant()
        var isWell = false, connections: UInt64 = 0, last = start, metrics = GatewayMetrics()
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            let (counters, devices) = hub.counters
            let now = clock.instant(), broker = status()
            let health = Health(
                gateway: configuration.topics.gateway, uptime: start.duration(to: now), time: clock.wall(),
                adapters: fleet.statuses + (replay.map { [$0.status] } ?? []), counters: counters, devices: devices,
                broker: broker)
            metrics.record(health)
            if health.isWell != isWell { scanningChanged.call.withLock { $0 }() }
            // Immediately after a change, and after each connection to the broker.
            guard
                health.isWell != isWell || connections != broker.connections
                    || last.duration(to: now) >= configuration.healthInterval
            else { continue }
            (isWell, connections, last) = (health.isWell, broker.connections, now)
            sink.take([health.publication(configuration.topics.health)])
            notifier.tell("STATUS=\(health.devices) devices, \(isWell ? "scanning" : "no adapter is scanning")")
        }
    }
}

/// The broker as a service. It stops after the gateway, when all messages have been handed over.
public struct MQTTService: Service {
    private let sink: MQTTSink

    /// Creates a service that stops the sink when the service group shuts down.
    public init(_ sink: MQTTSink) { self.sink = sink }

    /// Waits until the service group shuts down. Then it sends the remaining messages and disconnects from the broker.
    public func run() async throws {
        try? await gracefulShutdown()
        await sink.stop()
    }
}
