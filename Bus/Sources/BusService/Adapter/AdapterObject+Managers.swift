import BluetoothAdapter
import BluetoothHCI
import BluetoothHost
import BusObjects
import DBus

extension AdapterObject {
    /// `org.bluez.GattManager1`.
    static let gattManager = Interface<AdapterObject>(
        "org.bluez.GattManager1",
        methods: [
            Method("RegisterApplication", [Argument("application", "o"), Argument("options", "a{sv}")]) {
                adapter, call throws(BusError) in
                guard let path = call.arguments[0].path else { throw .invalidArguments }
                try adapter.daemon.client(of: call).registerApplication(path, call)
            },
            Method("UnregisterApplication", [Argument("application", "o")]) { adapter, call throws(BusError) in
                guard let path = call.arguments[0].path else { throw .invalidArguments }
                try adapter.daemon.client(of: call).unregisterApplication(path, call)
            },
        ])

    /// `org.bluez.LEAdvertisingManager1`.
    static let advertisingManager = Interface<AdapterObject>(
        "org.bluez.LEAdvertisingManager1",
        methods: [
            Method("RegisterAdvertisement", [Argument("advertisement", "o"), Argument("options", "a{sv}")]) {
                adapter, call throws(BusError) in
                guard let path = call.arguments[0].path else { throw .invalidArguments }
                try adapter.daemon.client(of: call).registerAdvertisement(path, call)
            },
            Method("UnregisterAdvertisement", [Argument("service", "o")]) { adapter, call throws(BusError) in
                guard let path = call.arguments[0].path else { throw .invalidArguments }
                try adapter.daemon.client(of: call).unregisterAdvertisement(path, call)
            },
        ],
        properties: [
            Property("ActiveInstances", "y") { .byte(UInt8(clamping: $0.activeAdvertisements)) },
            Property("SupportedInstances", "y") { adapter in
                .byte(UInt8(clamping: max(adapter.supportedAdvertisements - adapter.activeAdvertisements, 0)))
            },
            Property("SupportedIncludes", "as") { _ in .strings(Advertisement.Include.allCases.map(\.rawValue)) },
            Property("SupportedSecondaryChannels", "as") { adapter in
                adapter.secondaryChannels.map { .strings($0.map(\.rawValue)) }
            },
            Property("SupportedFeatures", "as") { adapter in
                let isExtended = adapter.information?.usesExtendedCommands == true
                return .strings(isExtended ? ["CanSetTxPower", "HardwareOffload"] : [])
            },
            Property("SupportedCapabilities", "a{sv}") { adapter in
                let length = UInt8(clamping: adapter.information?.maximumAdvertisingDataLength ?? 31)
                return .variants([
                    ("MinTxPower", .int16(-127)), ("MaxTxPower", .int16(20)), ("MaxAdvLen", .byte(length)),
                    ("MaxScnRspLen", .byte(length)),
                ])
            },
        ])

    /// `org.bluez.AdvertisementMonitorManager1`.
    static let monitorManager = Interface<AdapterObject>(
        "org.bluez.AdvertisementMonitorManager1",
        methods: [
            Method("RegisterMonitor", [Argument("application", "o")]) { adapter, call throws(BusError) in
                guard let path = call.arguments[0].path else { throw .invalidArguments }
                try adapter.daemon.client(of: call).registerMonitors(path, call)
            },
            Method("UnregisterMonitor", [Argument("application", "o")]) { adapter, call throws(BusError) in
                guard let path = call.arguments[0].path else { throw .invalidArguments }
                try adapter.daemon.client(of: call).unregisterMonitors(path, call)
            },
        ],
        properties: [
            Property("SupportedMonitorTypes", "as") { _ in .strings(["or_patterns"]) },
            Property("SupportedFeatures", "as") { _ in .strings([]) },
        ])

    private var information: ControllerInformation? { daemon.runner.information }

    /// The PHYs of extended advertisements; nil if the controller has none.
    private var secondaryChannels: [Advertisement.SecondaryChannel]? {
        guard let information, information.usesExtendedCommands else { return nil }
        return Advertisement.SecondaryChannel.allCases.filter { channel in
            channel.feature.map(information.features.contains) ?? true
        }
    }

    private var activeAdvertisements: Int {
        daemon.clients.values.reduce(0) { $0 + $1.advertisements.count }
    }

    private var supportedAdvertisements: Int { information?.advertisingSetCount ?? 1 }
}
