import BluetoothBase
import BluetoothGAP
import Foundation

/// The filter of a scan.
struct WantedScan: Equatable, Sendable {
    /// Reports advertisers of any of these services; all advertisers if empty.
    var services: [BluetoothUUID]
    /// Also reports advertisers that solicit any of these services.
    var solicited: [BluetoothUUID]
    var allowsDuplicates: Bool

    init(services: [CBUUID]?, options: [String: Any]?) {
        self.services = services?.map(\.bluetoothUUID) ?? []
        let solicited = options?[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] as? [CBUUID]
        self.solicited = solicited?.map(\.bluetoothUUID) ?? []
        allowsDuplicates = (options?[CBCentralManagerScanOptionAllowDuplicatesKey] as? NSNumber)?.boolValue ?? false
    }

    /// The part of the filter that the adapter can apply.
    var filter: ScanFilter { solicited.isEmpty ? ScanFilter(services: services) : ScanFilter() }

    /// Whether an advertiser that has passed the adapter's filter matches.
    func matches(_ advertisement: AdvertisementData) -> Bool {
        solicited.isEmpty || advertisement.serviceUUIDs.contains { services.contains($0) }
            || advertisement.solicitedServiceUUIDs.contains { solicited.contains($0) }
    }
}

/// The options of a connection.
struct ConnectOptions: Sendable {
    /// How long to wait before the first attempt.
    var startDelay: Duration
    /// Whether to reconnect after a lost connection.
    var isReconnecting: Bool

    /// The maximum delay, in seconds. Longer delays are shortened to it.
    private static let longestDelay = 86400.0

    init(_ options: [String: Any]?) {
        let delay = (options?[CBConnectPeripheralOptionStartDelayKey] as? NSNumber)?.doubleValue ?? 0
        startDelay = delay > 0 ? .seconds(min(delay, Self.longestDelay)) : .zero
        isReconnecting = (options?[CBConnectPeripheralOptionEnableAutoReconnect] as? NSNumber)?.boolValue ?? false
    }
}

/// The peers whose connection events a manager wants.
struct WantedConnectionEvents: Sendable {
    private let services: Set<BluetoothUUID>
    private let peripherals: Set<UUID>

    /// Services beyond this number are ignored.
    private static let maximumServices = 4

    init(_ options: [CBConnectionEventMatchingOption: Any]) {
        let services = options[.serviceUUIDs] as? [CBUUID] ?? []
        self.services = Set(services.prefix(Self.maximumServices).map(\.bluetoothUUID))
        peripherals = Set(options[.peripheralUUIDs] as? [UUID] ?? [])
    }

    func matches(_ identifier: UUID, services: Set<BluetoothUUID>) -> Bool {
        if self.services.isEmpty, peripherals.isEmpty { return true }
        return peripherals.contains(identifier) || !self.services.isDisjoint(with: services)
    }
}
