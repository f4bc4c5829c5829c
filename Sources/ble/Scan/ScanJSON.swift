import BluetoothBase
import BluetoothLE
import BluetoothNumbers
import BluetoothCommandLine
import BluetoothValues

extension ScannedSet {
    /// The set's advertising as a JSON object on one line. The members that change with each sighting come first.
    var jsonLine: [UInt8] {
        mutating get {
            let rest = cachedJSON { $0.object.line() }
            var line = Self.opening
            line.reserveCapacity(rest.count + 64)
            Timestamp(sighting.lastSeen).write(to: &line)
            line.append(UInt8(ascii: "\""))
            if let rssi = sighting.rssi {
                line += Self.rssi
                line.append(contentsOf: String(rssi).utf8)
            }
            line.append(UInt8(ascii: ","))
            line += rest.dropFirst()
            return line
        }
    }

    private static let opening = Array(#"{"time":""#.utf8)
    private static let rssi = Array(#","rssi":"#.utf8)

    /// The members that change only with the data.
    private var object: JSONObject {
        let advertisement = look.advertisement
        var object = JSONObject(capacity: 512)
        object.add("address", sighting.isAnonymous ? nil : sighting.address.description)
        object.add("identity", look.identity?.description)
        object.add("anonymous", sighting.isAnonymous)
        object.add("name", look.name)
        object.add("vendor", look.vendor)
        object.add("connectable", sighting.isConnectable)
        object.add("directed", sighting.eventType.contains(.directed))
        if let phy = sighting.details.secondaryPHY {
            object.add("primaryPHY", sighting.details.primaryPHY.text)
            object.add("secondaryPHY", phy.text)
        }
        object.add("sid", sighting.details.sid)
        object.add("truncated", sighting.details.isTruncated)
        object.add("periodicInterval", sighting.details.periodicInterval.map { $0 / .milliseconds(1) })
        object.add("services", each: advertisement.serviceUUIDs) { $0.add($1) }
        object.add("serviceListIsIncomplete", advertisement.isServiceListIncomplete)
        object.add("solicitedServices", each: advertisement.solicitedServiceUUIDs) { $0.add($1) }
        object.add("serviceData", each: advertisement.serviceData) { object, element in
            object.add(element.uuid)
            object.add("data", hexadecimal: element.data)
        }
        object.add("manufacturerData", each: advertisement.manufacturerData) { object, element in
            object.add("company", element.companyID)
            object.add("name", AssignedNumbers.name(ofCompany: element.companyID))
            object.add("data", hexadecimal: element.data)
        }
        object.add("txPower", sighting.txPowerLevel)
        object.add("appearance", advertisement.appearance?.rawValue)
        object.add(
            "appearanceName", advertisement.appearance.flatMap { AssignedNumbers.name(ofAppearance: $0.rawValue) })
        object.add("flags", advertisement.flags?.rawValue)
        object.add("other", each: advertisement.other) { object, element in
            object.add("type", element.type.rawValue)
            object.add("data", hexadecimal: element.data)
        }
        // One object for each field of a value.
        let fields = look.values.flatMap { value in value.fields.map { (type(of: value).formatName, $0) } }
        object.add("values", each: fields) { object, element in
            let (format, field) = element
            object.add("format", format)
            object.add("name", field.name)
            switch field.value {
            case .number(let number): object.add("value", number)
            case .flag(let flag): object.add("value", explicit: flag)
            case .text(let text): object.add("value", text)
            }
            object.add("unit", field.unit.isEmpty ? nil : field.unit)
        }
        return object
    }
}

extension JSONObject {
    /// Adds a service with its name, or with the name of the member that its UUID was assigned to.
    fileprivate mutating func add(_ service: BluetoothUUID) {
        add("uuid", service.description)
        add("name", AssignedNumbers.name(ofService: service))
        add("member", AssignedNumbers.name(ofMember: service))
    }

    /// Adds a number with all its decimal places.
    mutating func add(_ name: String, _ number: FixedPointNumber) { add(name, json: number.description) }
}
