import BluetoothBase
import BluetoothGAP
import DBus

/// A client's choice of the devices it wants to discover.
struct DiscoveryFilter: Equatable {
    /// The names of the conditions, as `GetDiscoveryFilters` returns them.
    static func names(_ profile: Profile) -> [String] {
        let names = ["UUIDs", "RSSI", "Pathloss", "Transport", "DuplicateData", "Discoverable", "Pattern"]
        return profile == .bookworm ? names : names + ["AutoConnect"]
    }

    var uuids: [BluetoothUUID] = []
    var rssi: Int16?
    var pathloss: UInt16?
    /// Whether unchanged data is reported again.
    var reportsDuplicates = false
    /// The beginning of the device's address or name.
    var pattern: String?
    /// Whether a client has set the filter. Without one, only discoverable devices are reported.
    var isSet = true

    /// The filter of a client that has set none.
    static let none: DiscoveryFilter = {
        var filter = DiscoveryFilter()
        filter.isSet = false
        return filter
    }()

    private init() {}

    /// Reads the argument of `SetDiscoveryFilter`.
    init(_ dictionary: DBusValue) throws(BusError) {
        let entries = dictionary.entries ?? []
        if entries.isEmpty { isSet = false }
        for entry in entries {
            guard let name = entry.key.text else { throw .invalidArguments }
            try set(name, entry.value.unwrapped)
        }
        if rssi != nil, pathloss != nil { throw .invalidArguments }
    }

    private mutating func set(_ name: String, _ value: DBusValue) throws(BusError) {
        switch (name, value) {
        case ("UUIDs", .array("s", let elements)):
            guard elements.count <= 1024 else { throw .invalidArguments }
            for element in elements {
                guard let uuid = element.text.flatMap(BluetoothUUID.init) else { throw .invalidArguments }
                uuids.append(uuid)
            }
        case ("RSSI", .int16(let value)):
            guard (-127...20).contains(value) else { throw .invalidArguments }
            rssi = value
        case ("Pathloss", .uint16(let value)):
            guard value <= 137 else { throw .invalidArguments }
            pathloss = value
        case ("Transport", .string("le")), ("Transport", .string("auto")): return
        case ("Transport", .string("bredr")): throw .notSupported
        case ("DuplicateData", .boolean(let value)): reportsDuplicates = value
        // It makes the adapter discoverable to BR/EDR devices.
        case ("Discoverable", .boolean), ("AutoConnect", .boolean): return
        case ("Pattern", .string(let value)): pattern = value.isEmpty ? nil : value
        default: throw .invalidArguments
        }
    }

    /// The conditions that the scan itself checks.
    var scanFilter: ScanFilter {
        ScanFilter(
            services: uuids, rssi: rssi.map { Int8(clamping: $0)...Int8.max },
            isDiscoverableOnly: !isSet)
    }

    /// Whether a device meets the conditions that the scan does not check.
    func matches(_ sighting: borrowing Sighting) -> Bool {
        if let pathloss {
            guard let power = sighting.txPowerLevel, let rssi = sighting.rssi, Int(power) - Int(rssi) <= pathloss else {
                return false
            }
        }
        guard let pattern else { return true }
        return TextForm.address(sighting.address).hasPrefix(pattern) || sighting.name?.hasPrefix(pattern) == true
    }
}
