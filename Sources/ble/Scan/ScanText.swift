import BluetoothBase
import BluetoothLE
import BluetoothNumbers
import BluetoothCommandLine
import BluetoothValues

/// The text output of a scan.
enum ScanText {
    /// The part of a device's line after the signal strength.
    static func description(of device: ScannedSet) -> String {
        let look = device.look, advertisement = look.advertisement
        var fields: [String] = []
        if let name = look.name { fields.append(quoted(name)) }
        if let identity = look.identity, PeerID(identity) != PeerID(device.sighting.address) {
            fields.append("is \(identity)")
        }
        if let vendor = look.vendor { fields.append(escaped(vendor)) }
        if !device.sighting.isConnectable { fields.append("not connectable") }
        fields += extended(device.sighting)
        if !advertisement.serviceUUIDs.isEmpty {
            let more = advertisement.isServiceListIncomplete ? " and more" : ""
            fields.append("services " + advertisement.serviceUUIDs.map(service).joined(separator: ", ") + more)
        }
        let values = look.values.map { value in
            ([type(of: value).formatName] + value.fields.map(text)).joined(separator: " ")
        }
        fields += values
        // Decoded data is not shown twice.
        let decoded = Set(look.values.map { type(of: $0).container })
        for service in advertisement.serviceData where !decoded.contains(.serviceData(service.uuid)) {
            fields.append("data of \(Self.service(service.uuid)) \(service.data.hexadecimal())")
        }
        for manufacturer in advertisement.manufacturerData
        where !decoded.contains(.manufacturerData(manufacturer.companyID)) {
            let company = hexadecimal(manufacturer.companyID, digits: 4)
            fields.append("manufacturer \(company) \(manufacturer.data.hexadecimal())")
        }
        if let appearance = advertisement.appearance {
            fields.append(
                "appearance \(AssignedNumbers.name(ofAppearance: appearance.rawValue) ?? hexadecimal(appearance.rawValue, digits: 4))"
            )
        }
        if let power = device.sighting.txPowerLevel { fields.append("transmits at \(power) dBm") }
        return fields.joined(separator: "  ")
    }

    /// The description of extended advertising.
    private static func extended(_ sighting: Sighting) -> [String] {
        let details = sighting.details
        var fields: [String] = []
        if sighting.eventType.contains(.directed) { fields.append("directed") }
        if let phy = details.secondaryPHY {
            let set = details.sid.map { "set \($0) on " } ?? "on "
            fields.append(
                set + (details.primaryPHY == phy ? "" : "LE \(details.primaryPHY.text) and ") + "LE \(phy.text)")
        }
        if let interval = details.periodicInterval {
            fields.append("periodic every \(Int(interval / .milliseconds(1))) ms")
        }
        if details.isTruncated { fields.append("truncated") }
        return fields
    }

    /// A service with its name, such as `180D (Heart Rate)`.
    static func service(_ uuid: BluetoothUUID) -> String {
        let name = AssignedNumbers.name(ofService: uuid) ?? AssignedNumbers.name(ofMember: uuid)
        return name.map { "\(uuid) (\(escaped($0)))" } ?? uuid.description
    }

    /// `temperature 25.06 °C`.
    static func text(_ field: AdvertisedField) -> String {
        let value =
            switch field.value {
            case .number(let number): number.description
            case .flag(let flag): flag ? "yes" : "no"
            case .text(let text): quoted(text)
            }
        return "\(field.name) \(value)" + (field.unit.isEmpty ? "" : " \(field.unit)")
    }

    /// A text as in `quoted`, without the quotation marks.
    static func escaped(_ text: String) -> String { String(quoted(text).dropFirst().dropLast()) }

    /// A device's estimated proximity, in one line.
    static func line(for device: NearDevice) -> String {
        let estimate = device.estimate
        var fields = [
            padded(device.address), strength(Int8(clamping: Int(estimate.rssi.rounded()))), "\(estimate.zone)",
        ]
        if let distance = estimate.distance { fields.append("about \((distance * 10).rounded() / 10) m") }
        return fields.joined(separator: "  ")
    }

    /// Padded to the width of the longest address, which is a public one.
    static func padded(_ sighting: Sighting) -> String {
        sighting.isAnonymous ? padded("anonymous") : padded(sighting.address)
    }

    static func padded(_ address: DeviceAddress) -> String { padded(address.description) }

    private static func padded(_ text: String) -> String {
        return text + String(repeating: " ", count: max(0, 19 - text.utf8.count))
    }

    static func strength(_ rssi: Int8?) -> String {
        let text = rssi.map(String.init) ?? "?"
        return String(repeating: " ", count: max(0, 4 - text.utf8.count)) + text + " dBm"
    }
}

extension AdvertisingPHY {
    /// The name of the PHY without "LE".
    var text: String {
        switch self {
        case .le1M: "1M"
        case .le2M: "2M"
        case .leCoded: "Coded"
        }
    }
}

extension ScannedSet {
    /// The set's advertising, in one line.
    var line: [UInt8] {
        mutating get {
            let rest = cachedLine { set in
                let description = ScanText.description(of: set)
                return Array(((description.isEmpty ? "" : "  " + description) + "\n").utf8)
            }
            return Array((ScanText.padded(sighting) + "  " + ScanText.strength(sighting.rssi)).utf8) + rest
        }
    }
}
