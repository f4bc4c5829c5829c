import BluetoothLE
import BluetoothValues
import GatewayConfiguration
import GatewayPipeline
import Logging
import ServiceLifecycle

/// Reads values from configured devices at intervals, such as the battery level, over its own connections.
public struct ValueReader: Service {
    /// The result of an attempt.
    private enum Outcome {
        case read
        /// The device was not heard recently, or no place is available.
        case later
        case failed(String)
    }

    private let settings: ReadSettings
    private let hub: Hub
    private let table: ConnectionTable
    private let fleet: @Sendable (DeviceAddress) -> (Adapter, String)?
    private let logger: Logger

    private static let connectTimeout = Duration.seconds(20)
    private static let readTimeout = Duration.seconds(30)
    /// The delay after a postponed attempt, and after the first failed one. Each further failure doubles the delay.
    private static let shortWait = Duration.seconds(5)
    private static let failureWait = Duration.seconds(60)

    /// - Parameters:
    ///   - table: the places for connections.
    ///   - adapter: selects an adapter to connect to a device with, and returns it with its name.
    public init(
        _ settings: ReadSettings, hub: Hub, table: ConnectionTable,
        adapter: @escaping @Sendable (DeviceAddress) -> (Adapter, String)?, logger: Logger
    ) {
        self.settings = settings
        self.hub = hub
        self.table = table
        fleet = adapter
        self.logger = logger
    }

    /// Reads from all configured devices, each at the configured interval, until the service group shuts down.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for device in settings.devices { group.addTask { await keepReading(device) } }
            }
        }
    }

    private func keepReading(_ device: DeviceAddress) async {
        var failures = 0
        while !Task.isCancelled {
            let wait: Duration
            switch await read(device) {
            case .read: (wait, failures) = (settings.interval, 0)
            case .later: wait = min(Self.shortWait, settings.interval)
            case .failed(let reason):
                failures += 1
                wait = min(Self.failureWait * (1 << min(failures - 1, 10)), settings.interval)
                // A device that keeps failing must not fill the log.
                if failures & (failures - 1) == 0, !Task.isCancelled {
                    logger.warning("\(device.octets) cannot be read (\(failures) times): \(reason)")
                }
            }
            try? await Task.sleep(for: wait)
        }
    }

    private func read(_ device: DeviceAddress) async -> Outcome {
        guard hub.knows(device) else { return .later }
        do throws(ConnectionTable.Refusal) {
            try table.take(device)
        } catch {
            return .later
        }
        defer { table.giveBack(device) }
        guard let (adapter, _) = fleet(device) else { return .later }
        let fields: [AdvertisedField]
        do throws(BluetoothError) {
            let connection = try await adapter.connect(to: device, timeout: Self.connectTimeout)
            let outcome = await readValues(connection)
            // In another task, because this one may be cancelled, and a cancelled task could not disconnect.
            await Task { try? await connection.disconnect() }.value
            fields = try outcome.get()
        } catch {
            return .failed("\(error)")
        }
        hub.receive(fields, of: device)
        return fields.isEmpty ? .failed("it has none of the characteristics") : .read
    }

    private func readValues(_ connection: Connection) async -> Result<[AdvertisedField], BluetoothError> {
        do throws(BluetoothError) {
            return .success(
                try await withTimeout(Self.readTimeout) { () throws(BluetoothError) in
                    var fields: [AdvertisedField] = []
                    for characteristic in settings.characteristics {
                        guard let value = try await Self.first(characteristic, connection) else { continue }
                        if let field = ReadableValues.field(characteristic, value) { fields.append(field) }
                    }
                    return fields
                })
        } catch {
            return .failure(error)
        }
    }

    /// The first value of a type; nil if the device has none, or does not allow it to be read.
    private static func first(
        _ uuid: BluetoothUUID, _ connection: Connection
    ) async throws(BluetoothError) -> [UInt8]? {
        do throws(BluetoothError) {
            return try await connection.readValues(of: uuid).first?.value
        } catch {
            if error.code == .att || error.code == .insufficientSecurity { return nil }
            throw error
        }
    }
}
