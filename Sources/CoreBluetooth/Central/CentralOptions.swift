import BluetoothBase
import BluetoothGAP
import Foundation

/// What is to be scanned for.
struct WantedScan: Equatable, Sendable {
    /// Advertisers of any of these; all where empty.
    var services: [BluetoothUUID]
    /// Those too that look for any of these.
    var solicited: [BluetoothUUID]
    var allowsDuplicates: Bool

    init(services: [CBUUID]?, options: [String: Any]?) {
        self.services = services?.map(\.bluetoothUUID) ?? []
        let solicited = options?[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] as? [CBUUID]
        self.solicited = solicited?.map(\.bluetoothUUID) ?? []
        allowsDuplicates = (options?[CBCentralManagerScanOptionAllowDuplicatesKey] as? NSNumber)?.boolValue ?? false
    }

    /// What the adapter can leave out by itself.
    var filter: ScanFilter { solicited.isEmpty ? ScanFilter(services: services) : ScanFilter() }

    /// Whether an advertiser is meant that has passed the filter.
    func matches(_ advertisement: AdvertisementData) -> Bool {
        solicited.isEmpty || advertisement.serviceUUIDs.contains { services.contains($0) }
            || advertisement.solicitedServiceUUIDs.contains { solicited.contains($0) }
    }
}

/// How a connection is to be made and kept.
struct ConnectOptions: Sendable {
    /// How long to wait before the first attempt.
    var startDelay: Duration
    /// Whether a connection that was lost is to be made again.
    var isReconnecting: Bool

    /// The longest delay that is honoured.
    private static let longestDelay = 86400.0

    init(_ options: [String: Any]?) {
        let delay = (options?[CBConnectPeripheralOptionStartDelayKey] as? NSNumber)?.doubleValue ?? 0
        startDelay = delay > 0 ? .seconds(min(delay, Self.longestDelay)) : .zero
        isReconnecting = (options?[CBConnectPeripheralOptionEnableAutoReconnect] as? NSNumber)?.boolValue ?? false
    }
}

/// Of whose links a manager is to be told.
struct WantedConnectionEvents: Sendable {
    private let services: Set<BluetoothUUID>
    private let peripherals: Set<UUID>

    /// More services than this are not looked at.
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
