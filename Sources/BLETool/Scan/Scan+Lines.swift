import BluetoothLE
import CommandLineSupport

extension Scan {
    /// A device's advertising, in one line.
    func line(for sighting: Sighting) -> String {
        let advertisement = sighting.advertisement
        var fields = [padded(sighting.address), strength(sighting.rssi)]
        if let name = sighting.name { fields.append(quoted(name)) }
        if !sighting.isConnectable { fields.append("not connectable") }
        if !advertisement.serviceUUIDs.isEmpty {
            let more = advertisement.isServiceListIncomplete ? " and more" : ""
            fields.append("services " + advertisement.serviceUUIDs.map(\.description).joined(separator: " ") + more)
        }
        for service in advertisement.serviceData {
            fields.append("data of \(service.uuid) \(service.data.hexadecimal())")
        }
        for manufacturer in advertisement.manufacturerData {
            let company = hexadecimal(manufacturer.companyID, digits: 4)
            fields.append("manufacturer \(company) \(manufacturer.data.hexadecimal())")
        }
        if let appearance = advertisement.appearance {
            fields.append("appearance \(hexadecimal(appearance.rawValue, digits: 4))")
        }
        if let power = sighting.txPowerLevel { fields.append("transmits at \(power) dBm") }
        return fields.joined(separator: "  ")
    }

    /// A device's estimated proximity, in one line.
    func line(for estimate: ProximityEstimator.Estimate) -> String {
        var fields = [
            padded(estimate.address), strength(Int8(clamping: Int(estimate.rssi.rounded()))), "\(estimate.zone)",
        ]
        if let distance = estimate.distance { fields.append("about \((distance * 10).rounded() / 10) m") }
        return fields.joined(separator: "  ")
    }

    /// As wide as the longest address, a public one.
    private func padded(_ address: DeviceAddress) -> String {
        let text = address.description
        return text + String(repeating: " ", count: max(0, 19 - text.count))
    }

    private func strength(_ rssi: Int8?) -> String {
        let text = rssi.map(String.init) ?? "?"
        return String(repeating: " ", count: max(0, 4 - text.count)) + text + " dBm"
    }
}
