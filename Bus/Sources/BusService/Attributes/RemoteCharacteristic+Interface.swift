import BluetoothATT
import BluetoothGATT
import BluetoothHost
import BusObjects
import DBus

extension RemoteCharacteristic {
    /// `org.bluez.GattCharacteristic1`.
    static let interface = Interface<RemoteCharacteristic>(
        "org.bluez.GattCharacteristic1",
        methods: [
            Method("ReadValue", [Argument("options", "a{sv}")], returns: [Argument("value", "ay")]) {
                characteristic, call throws(BusError) in try characteristic.read(call)
            },
            Method("WriteValue", [Argument("value", "ay"), Argument("options", "a{sv}")]) {
                characteristic, call throws(BusError) in try characteristic.write(call)
            },
            Method(
                "AcquireWrite", [Argument("options", "a{sv}")], returns: [Argument("fd", "h"), Argument("mtu", "q")]
            ) { characteristic, call throws(BusError) in try characteristic.acquireWrite(call) },
            Method(
                "AcquireNotify", [Argument("options", "a{sv}")], returns: [Argument("fd", "h"), Argument("mtu", "q")]
            ) { characteristic, call throws(BusError) in try characteristic.acquireNotify(call) },
            Method("StartNotify") { characteristic, call throws(BusError) in try characteristic.startNotify(call) },
            Method("StopNotify") { characteristic, call throws(BusError) in try characteristic.stopNotify(call) },
        ],
        properties: [
            Property("Handle", "q") { $0.device.handleValue($0.information.declarationHandle) },
            Property("UUID", "s") { .string(TextForm.uuid($0.information.uuid)) },
            Property("Service", "o") { .objectPath($0.servicePath) },
            Property("Value", "ay") { .bytes($0.value) },
            Property("Notifying", "b") { $0.canNotify ? .boolean($0.isNotifying) : nil },
            Property("Flags", "as") { .strings($0.flags) },
            Property("WriteAcquired", "b") { characteristic in
                guard characteristic.properties.contains(.writeWithoutResponse) else { return nil }
                return .boolean(characteristic.writePipe != nil)
            },
            // Only for notifications, although indications can be acquired as well.
            Property("NotifyAcquired", "b") { characteristic in
                characteristic.properties.contains(.notify) ? .boolean(characteristic.notifyPipe != nil) : nil
            },
            Property("MTU", "q") { $0.device.link.information.map { .uint16(UInt16(clamping: $0.mtu)) } },
        ])

    private static let flagNames: [(GATTCharacteristicProperties, String)] = [
        (.broadcast, "broadcast"), (.read, "read"), (.writeWithoutResponse, "write-without-response"),
        (.write, "write"), (.notify, "notify"), (.indicate, "indicate"),
        (.authenticatedSignedWrites, "authenticated-signed-writes"), (.extendedProperties, "extended-properties"),
    ]

    private var flags: [String] {
        var names = Self.flagNames.filter { properties.contains($0.0) }.map(\.1)
        if extended.contains(.reliableWrite) { names.append("reliable-write") }
        if extended.contains(.writableAuxiliaries) { names.append("writable-auxiliaries") }
        return names
    }
}
