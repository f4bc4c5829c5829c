import BluetoothLE
import Foundation
import GatewayConfiguration
import GatewayMQTT
import GatewayPipeline
import Logging
import ServiceLifecycle
import Synchronization

/// A gateway from adapters to a sink, for as long as it is to run.
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

    /// Who wants to know that adapters began to scan, or have stopped.
    private final class Listener: Sendable {
        let call = Mutex<@Sendable () -> Void>({})
    }

    /// - Parameters:
    ///   - status: how it is between the sink and its broker.
    ///   - replay: a file of packets that takes the place of adapters; `-` is standard input.
    /// - Throws: if an adapter's name is none.
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

    /// An adapter to connect to a device with, and its name.
    public var adapter: @Sendable (DeviceAddress) -> (Adapter, String)? {
        { [fleet] in fleet.adapter(for: $0) }
    }

    /// Removes the bonds with a device.
    var unpair: @Sendable (DeviceAddress) async throws(BluetoothError) -> Void {
        { [fleet] device throws(BluetoothError) in try await fleet.unpair(device) }
    }

    /// The adapters, as clients of ESPHome's API use them.
    func radio(_ table: ConnectionTable, allowsPairing: Bool) -> FleetRadio {
        FleetRadio(fleet: fleet, table: table, allowsPairing: allowsPairing)
    }

    func observeScanning(_ body: @escaping @Sendable () -> Void) { scanningChanged.call.withLock { $0 = body } }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup { group in
                group.addTask {
                    if let replay { await replay.run() } else { await fleet.run() }
                }
                group.addTask { await tick() }
                group.addTask { await tellHealth() }
                // A replay has an end; the others end with the task.
                await group.next()
                group.cancelAll()
            }
        }
        hub.finish()
        notifier.tell("STOPPING=1")
    }

    /// Does what is due, four times a second, and tells the service manager that this still happens.
    private func tick() async {
        notifier.tell("READY=1")
        var turns = 0
        while !Task.isCancelled {
            hub.advance()
            // Once a second is more often than any sensible limit asks for.
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
            // At once when something has changed, and when the broker is there anew.
            guard
                health.isWell != isWell || connections != broker.connections
                    || last.duration(to: now) >= configuration.healthInterval
            else { continue }
            (isWell, connections, last) = (health.isWell, broker.connections, now)
            sink.take([health.publication(configuration.topics.health)])
            notifier.tell("STATUS=\(health.devices) devices, \(isWell ? "scanning" : "no adapter scans")")
        }
    }
}

/// The broker as a service: it stops after the gateway, when everything was handed over.
public struct MQTTService: Service {
    private let sink: MQTTSink

    public init(_ sink: MQTTSink) { self.sink = sink }

    public func run() async throws {
        try? await gracefulShutdown()
        await sink.stop()
    }
}
