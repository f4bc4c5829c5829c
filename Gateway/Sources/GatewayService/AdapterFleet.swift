import BluetoothLE
import GatewayConfiguration
import GatewayPipeline
import HCITransport
import Logging
import Synchronization

/// The adapters that a gateway scans with. By default these are all adapters of the machine, including those that are
/// plugged in later.
final class AdapterFleet: Sendable {
    private let hub: Hub
    let mode: ScanMode
    private let logger: Logger
    private let named: [(String, TransportName)]
    /// The devices that clients may connect to; nil for all devices.
    private let connectable: Set<DeviceAddress>?
    private let choice = Mutex(AdapterChoice())
    private let sources = Mutex<[AdapterSource]>([])

    /// More adapters than a machine is expected to have.
    private static let limit = 32

    /// - Throws: an error if a name is not that of an adapter.
    init(_ configuration: Configuration, hub: Hub, logger: Logger) throws(ConfigurationError) {
        self.hub = hub
        mode = ScanMode(isActive: configuration.isScanActive)
        self.logger = logger
        connectable =
            configuration.esphome == nil
            ? configuration.remote.allowed.union(configuration.read.devices) : nil
        var named: [(String, TransportName)] = []
        for (index, name) in configuration.adapters.enumerated() {
            do throws(TransportNameError) {
                // `hci0` is short for `hci-socket:hci0`.
                named.append((name, try TransportName(name.contains(":") ? name : "hci-socket:\(name)")))
            } catch {
                throw ConfigurationError(path: "adapters[\(index)]", reason: "\(error)")
            }
        }
        self.named = named
    }

    var statuses: [AdapterSource.Status] { sources.withLock { $0 }.map(\.status) }

    /// Whether an adapter is scanning.
    var isScanning: Bool { statuses.contains { $0.isScanning } }

    /// The adapters that are open.
    var open: [Adapter] { sources.withLock { $0 }.compactMap(\.adapter) }

    /// Scans until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            for (name, transport) in named { start(name, transport, &group) }
            guard named.isEmpty else { return }
            var known: Set<DeviceAddress> = [], isLackTold = false
            while !Task.isCancelled {
                let adapters = Result { try HCIAdapter.list() }
                for adapter in (try? adapters.get()) ?? [] where adapter.supportsLowEnergy != false {
                    // The address identifies the adapter even if its number changes.
                    guard let address = adapter.address, known.count < Self.limit, known.insert(address).inserted,
                        let transport = try? TransportName("hci-socket:\(address.octets)")
                    else { continue }
                    start(adapter.name, transport, &group)
                }
                if known.isEmpty, !isLackTold {
                    isLackTold = true
                    logger.warning("this machine has no Bluetooth LE adapter\(Self.reason(adapters)): waiting for one")
                }
                try? await Task.sleep(for: .seconds(5))
            }
        }
    }

    /// Selects an adapter to connect to a device with: one that hears it well and is not used more than the others.
    func adapter(for device: DeviceAddress) -> (Adapter, String)? {
        let candidates = sources.withLock { $0 }.compactMap { $0.candidate(for: device) }
        let choices = candidates.map { AdapterChoice.Candidate(name: $0.name, rssi: $0.rssi) }
        return choice.withLock { $0.choose(among: choices) }.map { (candidates[$0].adapter, candidates[$0].name) }
    }

    /// Removes the bonds with a device from all adapters.
    ///
    /// - Throws: `.notBonded` if no adapter has a bond with the device.
    func unpair(_ device: DeviceAddress) async throws(BluetoothError) {
        var isFound = false
        for adapter in open {
            do throws(BluetoothError) {
                try await adapter.removeBond(with: PeerID(device))
                isFound = true
            } catch {
                guard error == .notBonded else { throw error }
            }
        }
        guard isFound else { throw .notBonded }
    }

    private static func reason(_ adapters: Result<[AdapterInformation], any Error>) -> String {
        if case .failure(let error) = adapters { " (\(error))" } else { "" }
    }

    private func start(_ name: String, _ transport: TransportName, _ group: inout DiscardingTaskGroup) {
        let source = AdapterSource(
            name, transport, hub: hub, mode: mode, connectable: connectable, logger: logger)
        sources.withLock { $0.append(source) }
        group.addTask { await source.run() }
    }
}
