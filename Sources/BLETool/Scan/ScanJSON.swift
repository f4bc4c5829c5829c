import BluetoothLE
import BluetoothNumbers
import BluetoothCommandLine

extension ScannedDevice {
    /// The device's advertising as a JSON object on one line. What changes with each sighting comes first.
    var jsonLine: [UInt8] {
        mutating get {
            let rest: [UInt8]
            if let cachedJSON {
                rest = cachedJSON
            } else {
                rest = Array(object.text.utf8.dropFirst()) + [UInt8(ascii: "\n")]
                cachedJSON = rest
            }
            var line = Self.opening
            line.reserveCapacity(rest.count + 64)
            line += Timestamp(sighting.lastSeen).iso8601
            line.append(UInt8(ascii: "\""))
            if let rssi = sighting.rssi { line += Self.rssi + Array("\(rssi)".utf8) }
            line.append(UInt8(ascii: ","))
            line += rest
            return line
        }
    }

    private static let opening = Array(#"{"time":""#.utf8)
    private static let rssi = Array(#","rssi":"#.utf8)

    /// What stays the same while the data does.
    private var object: JSONObject {
        let advertisement = look.advertisement
        var object = JSONObject()
        object.add("address", sighting.address.description)
        object.add("name", look.name)
        object.add("vendor", look.vendor)
        object.add("connectable", sighting.isConnectable)
        object.add("services", advertisement.serviceUUIDs.map(Self.service))
        object.add("serviceListIsIncomplete", advertisement.isServiceListIncomplete)
        object.add("solicitedServices", advertisement.solicitedServiceUUIDs.map(Self.service))
        object.add(
            "serviceData",
            advertisement.serviceData.map { element in
                var object = Self.service(element.uuid)
                object.add("data", element.data.hexadecimal(separator: ""))
                return object
            })
        object.add(
            "manufacturerData",
            advertisement.manufacturerData.map { element in
                var object = JSONObject()
                object.add("company", element.companyID)
                object.add("name", AssignedNumbers.name(ofCompany: element.companyID))
                object.add("data", element.data.hexadecimal(separator: ""))
                return object
            })
        object.add("txPower", sighting.txPowerLevel)
        object.add("appearance", advertisement.appearance?.rawValue)
        object.add(
            "appearanceName", advertisement.appearance.flatMap { AssignedNumbers.name(ofAppearance: $0.rawValue) })
        object.add("flags", advertisement.flags?.rawValue)
        object.add("values", look.values.flatMap(Self.values))
        return object
    }

    private static func service(_ uuid: BluetoothUUID) -> JSONObject {
        var object = JSONObject()
        object.add("uuid", uuid.description)
        object.add("name", AssignedNumbers.name(ofService: uuid))
        object.add("member", AssignedNumbers.name(ofMember: uuid))
        return object
    }

    /// An object for each thing that a value says.
    private static func values(_ value: any AdvertisedValue) -> [JSONObject] {
        value.fields.map { field in
            var object = JSONObject()
            object.add("format", type(of: value).formatName)
            object.add("name", field.name)
            switch field.value {
            case .number(let number): object.add("value", number)
            case .flag(let flag): object.add("value", json: flag ? "true" : "false")
            case .text(let text): object.add("value", text)
            }
            object.add("unit", field.unit.isEmpty ? nil : field.unit)
            return object
        }
    }
}

extension JSONObject {
    /// Adds a number with all its places.
    mutating func add(_ name: String, _ number: FixedPointNumber) { add(name, json: number.description) }
}
