import BluetoothValues

/// The entity that represents a field in Home Assistant: its platform, class and unit (Home Assistant's documentation
/// of `sensor`, `binary_sensor` and `event`).
struct HomeAssistantEntity {
    enum Component: String {
        case sensor
        case binarySensor = "binary_sensor"
        case event
    }

    var component: Component
    var name: String
    var deviceClass: String?
    var unit: String?
    var stateClass: String?
    var eventTypes: [String] = []
    var isDiagnostic = false

    init(_ field: AdvertisedField, isEvent: Bool) {
        // If there are several fields with one name, all but the first end in a number.
        let parts = field.name.split(separator: "_")
        let number = parts.count > 1 ? parts.last.flatMap { Int($0) } : nil
        // The numbers in PM10 and PM2.5 belong to the name.
        let kind = number != nil ? parts.dropLast().joined(separator: "_") : field.name
        let base = Self.classes[field.name] != nil || field.name == "pm2_5" ? field.name : kind
        // The number stays at the end of the name.
        let suffix = base == field.name ? "" : field.name.dropFirst(base.count)
        name = "\(Self.abbreviations[base] ?? base)\(suffix)".split(separator: "_").joined(separator: " ")
        name = name.prefix(1).uppercased() + name.dropFirst()
        if isEvent {
            component = .event
            eventTypes = Self.events[base] ?? []
            deviceClass = base == "button" ? "button" : nil
            return
        }
        switch field.value {
        case .flag:
            component = .binarySensor
            deviceClass = Self.binaryClasses[base]
        case .text:
            component = .sensor
            isDiagnostic = base == "firmware_version"
        case .number:
            component = .sensor
            unit = field.unit.isEmpty ? nil : field.unit
            stateClass = Self.totals.contains(base) ? "total_increasing" : "measurement"
            deviceClass = Self.classes[base]
            if base == "battery" {
                isDiagnostic = true
                // A battery field is a percentage or a voltage.
                if field.unit == "mV" { deviceClass = "voltage" }
            }
            // Fields that only describe how a device is set up.
            if ["device_type", "channel", "settings_revision", "tx_power"].contains(base) {
                isDiagnostic = true
                stateClass = nil
            }
        }
    }

    /// The fields whose displayed name differs from their own.
    private static let abbreviations = [
        "co2": "CO2", "tvoc": "TVOC", "pm2_5": "PM2.5", "pm10": "PM10", "uv_index": "UV_index", "mass_lb": "mass",
        "distance_mm": "distance", "volume_ml": "volume",
    ]

    /// The device classes of numbers.
    private static let classes = [
        "temperature": "temperature", "dew_point": "temperature", "humidity": "humidity", "pressure": "pressure",
        "illuminance": "illuminance", "battery": "battery", "mass": "weight", "mass_lb": "weight", "energy": "energy",
        "power": "power", "voltage": "voltage", "current": "current", "pm2_5": "pm25", "pm10": "pm10",
        "co2": "carbon_dioxide", "tvoc": "volatile_organic_compounds", "moisture": "moisture",
        "distance": "distance", "distance_mm": "distance", "duration": "duration", "speed": "speed", "gas": "gas",
        "volume": "volume", "volume_ml": "volume", "volume_storage": "volume_storage",
        "volume_flow_rate": "volume_flow_rate", "water": "water", "conductivity": "conductivity",
        "precipitation": "precipitation", "tx_power": "signal_strength",
    ]

    /// The values that only increase until they restart.
    private static let totals: Set<String> = ["energy", "gas", "volume", "volume_ml", "water", "precipitation"]

    private static let binaryClasses = [
        "battery_low": "battery", "battery_charging": "battery_charging", "carbon_monoxide": "carbon_monoxide",
        "cold": "cold", "connectivity": "connectivity", "door": "door", "garage_door": "garage_door",
        "gas_detected": "gas", "heat": "heat", "light": "light", "lock": "lock", "moisture_detected": "moisture",
        "motion": "motion", "moving": "moving", "occupancy": "occupancy", "opening": "opening", "plug": "plug",
        "power_on": "power", "presence": "presence", "problem": "problem", "running": "running",
        "safety": "safety", "smoke": "smoke", "sound": "sound", "tamper": "tamper", "vibration": "vibration",
        "window": "window",
    ]

    /// The possible types for each kind of event.
    private static let events = [
        "button": [
            "press", "double_press", "triple_press", "long_press", "long_double_press", "long_triple_press",
            "hold_press", "hold_release",
        ],
        "command": ["off", "on", "toggle", "step_up", "step_down"],
        "dimmer": ["rotate_left", "rotate_right"],
    ]
}
