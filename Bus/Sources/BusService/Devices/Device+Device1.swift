import BluetoothBase
import BluetoothGAP
import BusObjects
import DBus

extension Device {
    /// `org.bluez.Device1`.
    static let interface = Interface<Device>(
        "org.bluez.Device1",
        methods: [
            Method("Disconnect") { device, call in device.disconnect(call) },
            Method("Connect") { device, call throws(BusError) in try device.connect(call) },
            // Profiles belong to BR/EDR.
            Method("ConnectProfile", [Argument("UUID", "s")]) { _, _ throws(BusError) in throw .notSupported },
            Method("DisconnectProfile", [Argument("UUID", "s")]) { _, _ throws(BusError) in throw .notSupported },
            Method("Pair") { device, call throws(BusError) in try device.pair(call) },
            Method("CancelPairing") { device, call throws(BusError) in try device.cancelPairing(call) },
        ],
        properties: [
            Property("Address", "s") { .string(TextForm.address($0.address)) },
            Property("AddressType", "s") { .string(TextForm.addressType($0.address)) },
            Property("Name", "s") { $0.name.map(DBusValue.string) },
            Property("Alias", "s", read: { .string($0.alias) }) { device, value, call in
                device.setAlias(value.text ?? "")
                call.reply()
            },
            Property("Appearance", "q") { $0.advertised.appearance.map(DBusValue.uint16) },
            Property("Icon", "s") { $0.advertised.appearance.flatMap(Icon.name).map(DBusValue.string) },
            Property("Paired", "b") { .boolean($0.isPaired) },
            Property("Bonded", "b") { .boolean($0.isBonded) },
            Property("Trusted", "b", read: { .boolean($0.isTrusted) }) { device, value, call in
                device.setTrusted(value.flag ?? false)
                call.reply()
            },
            Property("Blocked", "b", read: { .boolean($0.isBlocked) }) { device, value, call in
                device.setBlocked(value.flag ?? false)
                call.reply()
            },
            Property("LegacyPairing", "b") { _ in .boolean(false) },
            Property("RSSI", "n") { $0.advertised.rssi.map { .int16(Int16($0)) } },
            Property("Connected", "b") { .boolean($0.isShownConnected) },
            Property("UUIDs", "as") { .strings($0.serviceUUIDs) },
            Property("Modalias", "s") { $0.modalias.map(DBusValue.string) },
            Property("Adapter", "o") { .objectPath($0.daemon.adapter.path) },
            Property("ManufacturerData", "a{qv}", isPresent: { !$0.advertised.manufacturerData.isEmpty }) {
                device, message throws(BusFailure) in try device.advertised.appendManufacturerData(to: message)
            },
            Property("ServiceData", "a{sv}", isPresent: { !$0.advertised.serviceData.isEmpty }) {
                device, message throws(BusFailure) in try device.advertised.appendServiceData(to: message)
            },
            Property("TxPower", "n") { $0.advertised.txPower.map { .int16(Int16($0)) } },
            Property("ServicesResolved", "b") { .boolean($0.areServicesResolved) },
            Property("AdvertisingFlags", "ay") { device in
                device.daemon.settings.profile == .bookworm ? nil : device.advertised.flags.map { .bytes([$0]) }
            },
            // Devices are paired over a cable only with BR/EDR.
            Property("CablePairing", "b") { $0.daemon.settings.profile == .bookworm ? nil : .boolean(false) },
        ])

    /// `org.bluez.Bearer.LE1`. All that it contains is experimental in BlueZ, which leaves only the interface itself.
    static let lowEnergyBearer = Interface<Device>("org.bluez.Bearer.LE1")
}

/// The names of icons, as desktops know them.
enum Icon {
    /// The icon for an appearance; nil if there is none.
    static func name(_ appearance: UInt16) -> String? {
        switch (appearance >> 6, appearance & 0x3F) {
        case (0x01, _): "phone"
        case (0x02, _): "computer"
        case (0x05, _): "video-display"
        case (0x0A, _): "multimedia-player"
        case (0x0B, _): "scanner"
        case (0x0F, 0x01): "input-keyboard"
        case (0x0F, 0x02): "input-mouse"
        case (0x0F, 0x03), (0x0F, 0x04): "input-gaming"
        case (0x0F, 0x05): "input-tablet"
        case (0x0F, 0x08): "scanner"
        default: nil
        }
    }
}
