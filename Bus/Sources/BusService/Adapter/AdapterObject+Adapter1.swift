import BluetoothAdapter
import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BusObjects
import DBus

extension AdapterObject {
    /// `org.bluez.Adapter1`.
    static let adapter = Interface<AdapterObject>(
        "org.bluez.Adapter1",
        methods: [
            Method("StartDiscovery") { adapter, call throws(BusError) in
                try adapter.requirePower()
                try adapter.daemon.client(of: call).startDiscovery(call)
            },
            Method("SetDiscoveryFilter", [Argument("properties", "a{sv}")]) { adapter, call throws(BusError) in
                try adapter.requirePower()
                let filter = try DiscoveryFilter(call.arguments[0])
                try adapter.daemon.client(of: call).setFilter(filter, call)
            },
            Method("StopDiscovery") { adapter, call throws(BusError) in
                try adapter.requirePower()
                try adapter.daemon.client(of: call).stopDiscovery(call)
            },
            Method("RemoveDevice", [Argument("device", "o")]) { adapter, call throws(BusError) in
                guard let path = call.arguments[0].path, let device = adapter.daemon.devices[path] else {
                    throw .doesNotExist
                }
                try adapter.requirePower()
                adapter.daemon.devices.remove(device, call)
            },
            Method("GetDiscoveryFilters", returns: [Argument("filters", "as")]) { adapter, call in
                call.reply(.strings(DiscoveryFilter.names(adapter.daemon.settings.profile)))
            },
        ],
        properties: [
            Property("Address", "s") { .string(TextForm.address($0.ownAddress)) },
            Property("AddressType", "s") { .string(TextForm.addressType($0.ownAddress)) },
            Property("Name", "s") { .string($0.daemon.settings.name) },
            Property("Alias", "s", read: { .string($0.alias) }) { adapter, value, call in
                adapter.setAlias(value.text ?? "")
                call.reply()
            },
            // This device has no BR/EDR, and thus no class.
            Property("Class", "u") { _ in .uint32(0) },
            Property("Powered", "b", read: { .boolean($0.isPowered) }) { adapter, value, call throws(BusError) in
                try adapter.setPowered(value.flag ?? false)
                call.reply()
            },
            Property("PowerState", "s") { adapter in
                adapter.daemon.settings.profile == .bookworm ? nil : .string(adapter.isPowered ? "on" : "off")
            },
            Property("Discoverable", "b", read: { .boolean($0.isDiscoverable) }) {
                adapter, value, call throws(BusError) in
                guard adapter.isPowered || adapter.discoverableTimeout == 0 else { throw .failed("Not Powered") }
                adapter.setDiscoverable(value.flag ?? false)
                call.reply()
            },
            Property("DiscoverableTimeout", "u", read: { .uint32($0.discoverableTimeout) }) { adapter, value, call in
                adapter.setDiscoverableTimeout(UInt32(clamping: value.integer ?? 0))
                call.reply()
            },
            Property("Pairable", "b", read: { .boolean($0.isPairable) }) { adapter, value, call in
                adapter.setPairable(value.flag ?? false)
                call.reply()
            },
            Property("PairableTimeout", "u", read: { .uint32($0.pairableTimeout) }) { adapter, value, call in
                adapter.setPairableTimeout(UInt32(clamping: value.integer ?? 0))
                call.reply()
            },
            Property("Discovering", "b") { .boolean($0.isDiscovering) },
            Property("UUIDs", "as") { .strings($0.serviceUUIDs.map(TextForm.uuid)) },
            Property("Roles", "as") { _ in .strings(["central", "peripheral", "central-peripheral"]) },
            Property("Manufacturer", "q") { adapter in
                adapter.daemon.settings.profile == .bookworm
                    ? nil : .uint16(adapter.version?.companyIdentifier ?? 0xFFFF)
            },
            Property("Version", "y") { adapter in
                adapter.daemon.settings.profile == .bookworm ? nil : .byte(adapter.version?.hciVersion.rawValue ?? 0)
            },
        ])

    private var ownAddress: DeviceAddress {
        daemon.runner.information?.address ?? DeviceAddress(0, kind: .public)
    }

    private var version: ReadLocalVersionInformation.ReturnParameters? { daemon.runner.information?.version }

    /// The services of this device: the host's own, and those of the clients.
    private var serviceUUIDs: [BluetoothUUID] {
        var uuids: [BluetoothUUID] = ["1800", "1801"]
        for client in daemon.clients.values {
            for application in client.applications.values {
                for uuid in application.serviceUUIDs where !uuids.contains(uuid) { uuids.append(uuid) }
            }
        }
        return uuids
    }
}
