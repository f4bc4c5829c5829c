import BluetoothBase
import BluetoothGAP
import DBus

extension Advertisement.Content {
    /// Reads the properties of an advertisement.
    init(_ properties: DBusValue) throws(BusError) {
        self.init()
        switch properties["Type"]?.text {
        case "peripheral": isConnectable = true
        case nil, "broadcast": isConnectable = false
        default: throw Self.malformed
        }
        for entry in properties.entries ?? [] {
            try set(entry.key.text ?? "", entry.value.unwrapped)
        }
        if !isConnectable, isDiscoverable != nil { throw Self.malformed }
        if data.localName != nil, includes.contains(Advertisement.Include.localName.rawValue) { throw Self.malformed }
        guard let minimum, let maximum else { return }
        guard minimum <= maximum else { throw Self.malformed }
        interval = .milliseconds(Int64(minimum))...(.milliseconds(Int64(maximum)))
    }

    static let malformed = BusError.failed("Failed to parse advertisement.")

    private mutating func set(_ name: String, _ value: DBusValue) throws(BusError) {
        switch (name, value) {
        case ("ServiceUUIDs", _): data.serviceUUIDs = try Self.uuids(value)
        case ("SolicitUUIDs", _): data.solicitedServiceUUIDs = try Self.uuids(value)
        case ("ManufacturerData", .dictionary("q", "v", let entries)):
            for entry in entries {
                guard let id = entry.key.integer, let octets = entry.value.octets else { throw Self.malformed }
                data.manufacturerData.append(.init(companyID: UInt16(clamping: id), data: octets))
            }
        case ("ServiceData", .dictionary("s", "v", let entries)):
            for entry in entries {
                guard let uuid = entry.key.text.flatMap(BluetoothUUID.init), let octets = entry.value.octets else {
                    throw Self.malformed
                }
                data.serviceData.append(.init(uuid: uuid, data: octets))
            }
        case ("Data", .dictionary("y", "v", let entries)):
            for entry in entries {
                guard let type = entry.key.integer, let octets = entry.value.octets else { throw Self.malformed }
                data.other.append(.init(type: ADType(rawValue: UInt8(clamping: type)), data: octets))
            }
        // Like BlueZ, this accepts an empty dictionary of any type.
        case ("ManufacturerData", _) where value.entries?.isEmpty == true,
            ("ServiceData", _) where value.entries?.isEmpty == true, ("Data", _) where value.entries?.isEmpty == true:
            return
        case ("LocalName", .string(let name)): data.localName = .complete(name)
        case ("Appearance", .uint16(let value)): data.appearance = Appearance(rawValue: value)
        case ("Includes", .array("s", _)): includes = Set(value.texts ?? [])
        case ("Discoverable", .boolean(let flag)): isDiscoverable = flag
        case ("Timeout", .uint16(let seconds)): duration = seconds == 0 ? nil : .seconds(Int64(seconds))
        case ("MinInterval", .uint32(let value)): minimum = try Self.interval(value)
        case ("MaxInterval", .uint32(let value)): maximum = try Self.interval(value)
        case ("TxPower", .int16(let value)):
            guard (-127...20).contains(value) else { throw Self.malformed }
            txPower = Int8(value)
        case ("SecondaryChannel", .string(let name)):
            guard let channel = Advertisement.SecondaryChannel(rawValue: name) else { throw Self.malformed }
            secondaryChannel = channel
        case ("ManufacturerData", _), ("ServiceData", _), ("Data", _), ("LocalName", _), ("Appearance", _),
            ("Includes", _), ("Discoverable", _), ("Timeout", _), ("MinInterval", _), ("MaxInterval", _),
            ("TxPower", _), ("SecondaryChannel", _):
            throw Self.malformed
        // Properties that this daemon does not know, as in BlueZ.
        default: return
        }
    }

    private static func uuids(_ value: DBusValue) throws(BusError) -> [BluetoothUUID] {
        var uuids: [BluetoothUUID] = []
        for text in value.texts ?? [] {
            guard let uuid = BluetoothUUID(text) else { throw malformed }
            if !uuids.contains(uuid) { uuids.append(uuid) }
        }
        return uuids
    }

    /// Checks an interval in milliseconds.
    private static func interval(_ value: UInt32) throws(BusError) -> UInt32 {
        guard (20...10_485_000).contains(value) else { throw malformed }
        return value
    }
}
