import BluetoothCrypto
import BluetoothLE
import GatewayPipeline
import HCITransport
import Logging
import Synchronization

/// An adapter that scans as long as the gateway runs. If it fails or is removed, it is used again when possible.
final class AdapterSource: Sendable {
    /// The state of an adapter.
    struct Status: Equatable, Sendable {
        var name: String
        /// Whether it is scanning.
        var isScanning = false
        /// The reason why it is not scanning.
        var failure: String?
        /// The number of packets that it has received.
        var received: UInt64 = 0
        /// The number of packets that were dropped because this machine was too slow.
        var dropped = 0
    }

    private let transport: TransportName
    private let hub: Hub
    private let mode: ScanMode
    private let logger: Logger
    private let state: Mutex<Status>
    /// The adapter while it is open, and the signal strengths of the devices that clients may connect to.
    private let open = Mutex<(adapter: Adapter?, signals: [DeviceAddress: Int8])>((nil, [:]))
    private let connectable: Set<DeviceAddress>?

    /// The maximum number of signals to remember. Beyond it, all are forgotten. Those of nearby devices soon reappear.
    private static let signalLimit = 4096

    /// - Parameter connectable: the devices that clients may connect to; nil for all devices.
    init(
        _ name: String, _ transport: TransportName, hub: Hub, mode: ScanMode, connectable: Set<DeviceAddress>?,
        logger: Logger
    ) {
        self.connectable = connectable
        self.transport = transport
        self.hub = hub
        self.mode = mode
        self.logger = logger
        state = Mutex(Status(name: name))
    }

    var status: Status { state.withLock { $0 } }

    /// The adapter while it is open.
    var adapter: Adapter? { open.withLock { $0.adapter } }

    /// The adapter, its name, and the signal strength of a device, which is nil if the device was not heard. Returns
    /// nil if the adapter is not scanning.
    func candidate(for device: DeviceAddress) -> (adapter: Adapter, name: String, rssi: Int8?)? {
        let status = status
        guard status.isScanning else { return nil }
        return open.withLock { open in
            open.adapter.map { ($0, status.name, open.signals[device.plain]) }
        }
    }

    /// Scans until the task is cancelled.
    func run() async {
        // Here, because the adapter would report it whenever it is opened again.
        if let reason = LibraryToolbox.unavailability {
            logger.warning("\(status.name): devices cannot pair with this one: \(reason)")
        }
        var wait = Duration.seconds(1)
        while !Task.isCancelled {
            do throws(BluetoothError) {
                try await scan()
            } catch {
                guard !Task.isCancelled else { return }
                let isNews = state.withLock { status in
                    let isNews = status.failure != "\(error)"
                    status.isScanning = false
                    status.failure = "\(error)"
                    return isNews
                }
                if isNews { logger.warning("\(status.name): \(error); retrying") }
                if status.received > 0 { wait = .seconds(1) }
            }
            try? await Task.sleep(for: wait)
            wait = min(wait * 2, .seconds(30))
        }
    }

    private func note(_ rssi: Int8, of device: DeviceAddress) {
        open.withLock { open in
            if open.signals.count >= Self.signalLimit, open.signals[device] == nil { open.signals = [:] }
            open.signals[device] = rssi
        }
    }

    private func scan() async throws(BluetoothError) {
        let adapter = try await Adapter.open(transport)
        open.withLock { $0.adapter = adapter }
        defer { open.withLock { $0 = (nil, [:]) } }
        do throws(BluetoothError) {
            while true {
                try await adapter.waitUntilReady()
                do throws(BluetoothError) {
                    try await take(from: adapter)
                } catch {
                    // The adapter becomes ready again automatically.
                    guard error == .adapterRemoved || error == .notReady else { throw error }
                    state.withLock { $0.isScanning = false }
                    logger.warning("\(status.name): \(error); waiting until it is back")
                }
            }
        } catch {
            await adapter.close()
            throw error
        }
    }

    /// Scans until the scan mode changes.
    private func take(from adapter: Adapter) async throws(BluetoothError) {
        let isActive = mode.isActive
        let parameters = ScanParameters(isActive: isActive, reportsDuplicates: true)
        let sightings = adapter.scan(parameters: parameters)
        let name = state.withLock { status in
            status.isScanning = true
            status.failure = nil
            return status.name
        }
        logger.info("\(name): scanning")
        for try await sighting in sightings {
            state.withLock { status in
                status.received += 1
                status.dropped = sightings.droppedCount
            }
            if connectable?.contains(sighting.address.plain) ?? true, let rssi = sighting.rssi {
                note(rssi, of: sighting.address.plain)
            }
            hub.receive(sighting, adapter: name)
            if mode.isActive != isActive { return }
        }
    }
}
