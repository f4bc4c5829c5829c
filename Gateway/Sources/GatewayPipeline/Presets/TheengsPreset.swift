import BluetoothBase
import BluetoothGAP
import BluetoothValues

/// `theengs`: topics and members that are compatible with OpenMQTTGateway and Theengs Gateway:
/// `home/GATEWAY/BTtoMQTT/A4C138112233` and `{"id":"A4:C1:38:11:22:33","rssi":-60,"tempc":25.06,…}`.
struct TheengsPreset: Preset {
    private let topics: Topics

    init(_ topics: Topics) { self.topics = topics }

    var availabilityTopic: String { "\(topics.base)/\(topics.gateway)/LWT" }

    mutating func forget() {}

    mutating func publications(for report: Report) -> [Publication] {
        let object = JSONObject { object in
            object.add("id", report.identity.octets)
            object.add("mac_type", report.address.isPublic ? 0 : 1)
            object.add("name", report.name)
            object.add("rssi", report.rssi)
            if let model = report.format.flatMap({ Self.models[$0] }) {
                object.add("brand", model.brand)
                object.add("model", model.name)
                object.add("model_id", model.identifier)
            } else {
                Self.addData(report, to: &object)
            }
            for field in report.fields { Self.add(field, to: &object) }
        }
        let topic = "\(topics.base)/\(topics.gateway)/BTtoMQTT/\(report.identity.digits)"
        return [Publication(topic: topic, text: object.text)]
    }

    private static let models: [String: (brand: String, name: String, identifier: String)] = [
        "bthome": ("GENERIC", "BTHome", "BTHOME"),
        "ruuvitag-3": ("Ruuvi", "RuuviTag", "RuuviTag_RAWv1"),
        "ruuvitag-5": ("Ruuvi", "RuuviTag", "RuuviTag_RAWv2"),
        "ibeacon": ("GENERIC", "iBeacon", "IBEACON"),
        "eddystone-tlm": ("GENERIC", "Eddystone TLM", "EDDYSTONE_TLM"),
        "eddystone-uid": ("GENERIC", "Eddystone UID", "EDDYSTONE_UID"),
        "eddystone-url": ("GENERIC", "Eddystone URL", "EDDYSTONE_URL"),
    ]

    /// Adds the undecoded data of a device in no known format.
    private static func addData(_ report: Report, to object: inout JSONObject) {
        let data = AdvertisementData(
            advertisingData: report.advertisingData.span, scanResponseData: report.scanResponseData.span)
        if let manufacturer = data.manufacturerData.first {
            // Preceded by the company identifier, as in the packet.
            let company = [UInt8(truncatingIfNeeded: manufacturer.companyID), UInt8(manufacturer.companyID >> 8)]
            let digits = (company + manufacturer.data).hexadecimal(separator: "")
            object.add("manufacturerdata", digits.lowercased())
        }
        if let service = data.serviceData.first {
            object.add("servicedatauuid", "0x" + service.uuid.description.lowercased())
            object.add("servicedata", service.data.hexadecimal(separator: "").lowercased())
        }
    }

    private static func add(_ field: AdvertisedField, to object: inout JSONObject) {
        // If there are several fields with one name, all but the first end in a number.
        let parts = field.name.split(separator: "_")
        let suffix = parts.count > 1 && parts.last?.allSatisfy(\.isNumber) == true ? "_\(parts[parts.count - 1])" : ""
        let name = suffix.isEmpty ? field.name : String(field.name.dropLast(suffix.count))
        if name == "uuid", case .text(let text) = field.value {
            // Theengs uses only the digits, in lower case.
            return object.add(field.name, text.lowercased().filter { $0 != "-" })
        }
        guard case .number(let number) = field.value else {
            return object.add((names[name] ?? name) + suffix, field.value)
        }
        switch (name, field.unit) {
        case ("temperature", _):
            object.add("tempc" + suffix, field.value)
            let fahrenheit = FixedPointNumber(nearest: number.doubleValue * 1.8 + 32, places: max(number.places, 1))
            object.add("tempf" + suffix, .number(fahrenheit))
        case ("battery", "mV"): object.add("volt" + suffix, .number(number.shifted(3)))
        case ("pressure", "Pa"): object.add("pres" + suffix, .number(number.shifted(2)))
        case (_, "mG"):
            // Theengs uses m/s².
            let acceleration = FixedPointNumber(nearest: number.doubleValue * 0.00980665, places: 3)
            object.add((names[name] ?? name) + suffix, .number(acceleration))
        default: object.add((names[name] ?? name) + suffix, field.value)
        }
    }

    private static let names = [
        "humidity": "hum", "battery": "batt", "voltage": "volt", "pressure": "pres", "illuminance": "lux",
        "moisture": "moi", "pm2_5": "pm25", "movements": "mov", "tx_power": "tx", "measured_power": "txpower",
        "rotation": "rot", "acceleration_x": "accx", "acceleration_y": "accy", "acceleration_z": "accz", "door": "open",
        "window": "open", "opening": "open", "mass": "weight",
    ]
}

extension FixedPointNumber {
    /// The number with its decimal point moved left by a number of places.
    fileprivate func shifted(_ places: Int) -> FixedPointNumber {
        FixedPointNumber(digits, places: self.places + places)
    }
}
