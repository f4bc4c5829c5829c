import BluetoothBase
import BluetoothNumbers
import BluetoothValues

/// `homeassistant`: values in the form that Home Assistant discovers automatically (its documentation of MQTT
/// discovery).
///
/// A device has one state, whichever gateway hears it, because all gateways send the same messages. Each gateway
/// reports the signal strength in its own topic. Values that are not renewed expire, so no gateway has to report that a
/// device is gone.
struct HomeAssistantPreset: Preset {
    private let topics: Topics
    private let expiry: Int64
    private var announced: RecencyTable<DeviceAddress, Announcements>
    private let capacity: Int

    /// The announcements of a device.
    private struct Announcements {
        /// The names of the entities.
        var entities: Set<String> = []
        /// Whether they contain the device's name.
        var hasName: Bool
    }

    init(_ topics: Topics, expiry: Duration, capacity: Int) {
        self.topics = topics
        self.expiry = expiry.components.seconds
        self.capacity = capacity
        announced = RecencyTable(capacity: capacity)
    }

    var availabilityTopic: String { topics.availability }

    mutating func forget() { announced = RecencyTable(capacity: capacity) }

    mutating func publications(for report: Report) -> [Publication] {
        // A private address changes about every 15 minutes. Its entities would remain forever.
        guard report.identity.isIdentity else { return [] }
        // A device may send both its identity and measurements.
        let fields = report.fields.filter { !Decoder.identityFields.contains($0.name) }
        var publications: [Publication] = []
        forgetNameless(report)
        for field in fields where announce(field.name, report) { publications.append(discovery(of: field, report)) }
        if announce(Self.signal, report) { publications.append(signalDiscovery(report)) }
        if report.reason == .event {
            for field in fields { publications.append(event(field, report)) }
            return publications
        }
        if !fields.isEmpty {
            let state = JSONObject { for field in fields { $0.add(field.name, field.value) } }
            publications.append(
                Publication(topic: topics.state(report.identity), text: state.text, isRetained: true))
        }
        if let rssi = report.rssi {
            publications.append(
                Publication(topic: topics.signal(report.identity), text: "\(rssi)", importance: .passing))
        }
        return publications
    }

    private static let signal = "rssi"

    /// Causes a device to be announced again if it was announced without its name, which is often in the scan response.
    private mutating func forgetNameless(_ report: Report) {
        guard report.name != nil, let slot = announced.use(report.identity), !announced[slot].hasName else { return }
        announced[slot] = Announcements(hasName: true)
    }

    /// Records an entity as announced. Returns whether it had not been announced before.
    private mutating func announce(_ entity: String, _ report: Report) -> Bool {
        if let slot = announced.use(report.identity) { return announced[slot].entities.insert(entity).inserted }
        if announced.isFull, let oldest = announced.oldestSlot { announced.remove(oldest) }
        _ = announced.insert(report.identity, Announcements(entities: [entity], hasName: report.name != nil))
        return true
    }

    // MARK: - Messages

    private func event(_ field: AdvertisedField, _ report: Report) -> Publication {
        var words: [Substring] = []
        if case .text(let text) = field.value { words = text.split(separator: " ") }
        let object = JSONObject {
            $0.add("event_type", words.first.map(String.init) ?? "")
            guard words.count == 2 else { return }
            // A dimmer event has a number of steps, and a command event has arguments.
            if field.name.hasPrefix("command") {
                $0.add("args", String(words[1]))
            } else if let steps = Int(words[1]) {
                $0.add("steps", steps)
            }
        }
        return Publication(topic: topics.event(report.identity, field.name), text: object.text)
    }

    private func discovery(of field: AdvertisedField, _ report: Report) -> Publication {
        let entity = HomeAssistantEntity(field, isEvent: report.reason == .event)
        let object = JSONObject { object in
            object.add("name", entity.name)
            object.add("unique_id", uniqueID(field.name, report))
            switch entity.component {
            case .event:
                object.add("state_topic", topics.event(report.identity, field.name))
                object.add("event_types", entity.eventTypes)
            case .binarySensor:
                object.add("state_topic", topics.state(report.identity))
                // Renders nothing, which changes nothing, until the device has sent the value.
                let value = "value_json.\(field.name)"
                object.add(
                    "value_template", "{% if \(value) is defined %}{{ 'ON' if \(value) else 'OFF' }}{% endif %}")
            case .sensor:
                object.add("state_topic", topics.state(report.identity))
                object.add("value_template", "{{ value_json.\(field.name) }}")
            }
            object.add("device_class", entity.deviceClass)
            object.add("unit_of_measurement", entity.unit)
            object.add("state_class", entity.stateClass)
            if entity.component != .event, !report.isTriggerBased { object.add("expire_after", expiry) }
            if entity.isDiagnostic { object.add("entity_category", "diagnostic") }
            addDevice(report, to: &object)
        }
        return announcement(object, entity.component.rawValue, field.name, report)
    }

    private func signalDiscovery(_ report: Report) -> Publication {
        let name = "\(Self.signal)_\(topics.gateway)"
        let object = JSONObject { object in
            object.add("name", "Signal at \(topics.gateway)")
            object.add("unique_id", uniqueID(name, report))
            object.add("state_topic", topics.signal(report.identity))
            object.add("availability_topic", topics.availability)
            object.add("device_class", "signal_strength")
            object.add("unit_of_measurement", "dBm")
            object.add("state_class", "measurement")
            object.add("expire_after", expiry)
            object.add("entity_category", "diagnostic")
            addDevice(report, to: &object)
        }
        return announcement(object, "sensor", Self.identifier(name), report)
    }

    private func announcement(
        _ object: JSONObject, _ component: String, _ entity: String, _ report: Report
    ) -> Publication {
        Publication(
            topic: "\(topics.discovery)/\(component)/ble_\(report.identity.digits)/\(entity)/config",
            text: object.text, isRetained: true)
    }

    private func uniqueID(_ entity: String, _ report: Report) -> String {
        "ble_\(report.identity.digits)_\(Self.identifier(entity))"
    }

    /// Replaces the characters that Home Assistant does not allow in identifiers.
    static func identifier(_ text: String) -> String {
        String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") ? $0 : "_" })
    }

    private func addDevice(_ report: Report, to object: inout JSONObject) {
        let suffix = report.identity.digits.suffix(4)
        let device = JSONObject {
            $0.add("identifiers", ["ble_" + report.identity.digits])
            $0.add("connections", json: #"[["bluetooth","\#(report.identity.octets)"]]"#)
            $0.add("name", report.name.map { "\($0) \(suffix)" } ?? "BLE \(suffix)")
            $0.add("manufacturer", report.companyID.flatMap { AssignedNumbers.name(ofCompany: $0) })
            $0.add("model", report.format)
        }
        object.add("device", device)
        object.add("origin", JSONObject { $0.add("name", "ble-gateway") })
    }
}
