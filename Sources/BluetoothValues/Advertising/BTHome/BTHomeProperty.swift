/// A kind of BTHome object: its identifier, name, layout and unit (https://bthome.io/format).
struct BTHomeProperty: Sendable {
    /// The layout of the octets. Numbers are whole multiples of `step` at `places` decimal places.
    enum Layout: Sendable {
        case unsigned(_ octets: Int, places: Int = 0, step: Int64 = 1)
        case signed(_ octets: Int, places: Int = 0, step: Int64 = 1)
        case flag
        /// The code of one of several events.
        case event(_ names: [UInt8: String])
        /// An event and a number of steps.
        case dimmer
        /// The length of the arguments, followed by an event and its arguments.
        case command
        /// A length, followed by UTF-8.
        case text
        /// A length, followed by octets.
        case raw
        /// The numbers of a version, one octet each, last one first.
        case version(_ octets: Int)

        /// The number of octets; nil if they are preceded by a length, see `length(after:)`.
        var length: Int? {
            switch self {
            case .unsigned(let octets, _, _), .signed(let octets, _, _), .version(let octets): octets
            case .flag, .event: 1
            case .dimmer: 2
            case .command, .text, .raw: nil
            }
        }

        /// Returns the number of octets that follow a length octet.
        func length(after octet: UInt8) -> Int {
            // The length octet of a command counts only the arguments, in five bits. The other bits are reserved.
            if case .command = self { Int(octet & 0x1F) + 1 } else { Int(octet) }
        }

        /// Returns the length octet for a number of octets.
        func octet(before length: Int) -> UInt8 {
            if case .command = self { UInt8(clamping: length - 1) } else { UInt8(clamping: length) }
        }
    }

    /// The object identifier.
    let identifier: UInt8
    let name: String
    let layout: Layout
    let unit: String

    private init(_ identifier: UInt8, _ name: String, _ layout: Layout, unit: String = "") {
        self.identifier = identifier
        self.name = name
        self.layout = layout
        self.unit = unit
    }

    /// Returns the kind with an object identifier, or nil if it is unknown.
    static subscript(identifier: UInt8) -> BTHomeProperty? { byIdentifier[Int(identifier)] }

    private static let byIdentifier: [BTHomeProperty?] = {
        var table = [BTHomeProperty?](repeating: nil, count: 256)
        for property in all { table[Int(property.identifier)] = property }
        return table
    }()

    static let buttonEvents: [UInt8: String] = [
        0x00: "none", 0x01: "press", 0x02: "double_press", 0x03: "triple_press", 0x04: "long_press",
        0x05: "long_double_press", 0x06: "long_triple_press", 0x80: "hold_press", 0x81: "hold_release",
    ]

    static let commands: [UInt8: String] = [
        0x00: "off", 0x01: "on", 0x02: "toggle", 0x03: "step_up", 0x04: "step_down",
    ]

    static let dimmerEvents: [UInt8: String] = [0x00: "none", 0x01: "rotate_left", 0x02: "rotate_right"]

    /// All kinds, ordered by object identifier. Kinds with the same name differ in range and resolution.
    static let all: [BTHomeProperty] = [
        Self(0x00, "packet_id", .unsigned(1)),
        Self(0x01, "battery", .unsigned(1), unit: "%"),
        Self(0x02, "temperature", .signed(2, places: 2), unit: "°C"),
        Self(0x03, "humidity", .unsigned(2, places: 2), unit: "%"),
        Self(0x04, "pressure", .unsigned(3, places: 2), unit: "hPa"),
        Self(0x05, "illuminance", .unsigned(3, places: 2), unit: "lx"),
        Self(0x06, "mass", .unsigned(2, places: 2), unit: "kg"),
        Self(0x07, "mass_lb", .unsigned(2, places: 2), unit: "lb"),
        Self(0x08, "dew_point", .signed(2, places: 2), unit: "°C"),
        Self(0x09, "count", .unsigned(1)),
        Self(0x0A, "energy", .unsigned(3, places: 3), unit: "kWh"),
        Self(0x0B, "power", .unsigned(3, places: 2), unit: "W"),
        Self(0x0C, "voltage", .unsigned(2, places: 3), unit: "V"),
        Self(0x0D, "pm2_5", .unsigned(2), unit: "µg/m³"),
        Self(0x0E, "pm10", .unsigned(2), unit: "µg/m³"),
        Self(0x0F, "generic_boolean", .flag),
        Self(0x10, "power_on", .flag),
        Self(0x11, "opening", .flag),
        Self(0x12, "co2", .unsigned(2), unit: "ppm"),
        Self(0x13, "tvoc", .unsigned(2), unit: "µg/m³"),
        Self(0x14, "moisture", .unsigned(2, places: 2), unit: "%"),
        Self(0x15, "battery_low", .flag),
        Self(0x16, "battery_charging", .flag),
        Self(0x17, "carbon_monoxide", .flag),
        Self(0x18, "cold", .flag),
        Self(0x19, "connectivity", .flag),
        Self(0x1A, "door", .flag),
        Self(0x1B, "garage_door", .flag),
        Self(0x1C, "gas_detected", .flag),
        Self(0x1D, "heat", .flag),
        Self(0x1E, "light", .flag),
        Self(0x1F, "lock", .flag),
        Self(0x20, "moisture_detected", .flag),
        Self(0x21, "motion", .flag),
        Self(0x22, "moving", .flag),
        Self(0x23, "occupancy", .flag),
        Self(0x24, "plug", .flag),
        Self(0x25, "presence", .flag),
        Self(0x26, "problem", .flag),
        Self(0x27, "running", .flag),
        Self(0x28, "safety", .flag),
        Self(0x29, "smoke", .flag),
        Self(0x2A, "sound", .flag),
        Self(0x2B, "tamper", .flag),
        Self(0x2C, "vibration", .flag),
        Self(0x2D, "window", .flag),
        Self(0x2E, "humidity", .unsigned(1), unit: "%"),
        Self(0x2F, "moisture", .unsigned(1), unit: "%"),
        Self(0x3A, "button", .event(buttonEvents)),
        Self(0x3B, "command", .command),
        Self(0x3C, "dimmer", .dimmer),
        Self(0x3D, "count", .unsigned(2)),
        Self(0x3E, "count", .unsigned(4)),
        Self(0x3F, "rotation", .signed(2, places: 1), unit: "°"),
        Self(0x40, "distance_mm", .unsigned(2), unit: "mm"),
        Self(0x41, "distance", .unsigned(2, places: 1), unit: "m"),
        Self(0x42, "duration", .unsigned(3, places: 3), unit: "s"),
        Self(0x43, "current", .unsigned(2, places: 3), unit: "A"),
        Self(0x44, "speed", .unsigned(2, places: 2), unit: "m/s"),
        Self(0x45, "temperature", .signed(2, places: 1), unit: "°C"),
        Self(0x46, "uv_index", .unsigned(1, places: 1)),
        Self(0x47, "volume", .unsigned(2, places: 1), unit: "L"),
        Self(0x48, "volume_ml", .unsigned(2), unit: "mL"),
        Self(0x49, "volume_flow_rate", .unsigned(2, places: 3), unit: "m³/h"),
        Self(0x4A, "voltage", .unsigned(2, places: 1), unit: "V"),
        Self(0x4B, "gas", .unsigned(3, places: 3), unit: "m³"),
        Self(0x4C, "gas", .unsigned(4, places: 3), unit: "m³"),
        Self(0x4D, "energy", .unsigned(4, places: 3), unit: "kWh"),
        Self(0x4E, "volume", .unsigned(4, places: 3), unit: "L"),
        Self(0x4F, "water", .unsigned(4, places: 3), unit: "L"),
        Self(0x50, "timestamp", .unsigned(4), unit: "s"),
        Self(0x51, "acceleration", .unsigned(2, places: 3), unit: "m/s²"),
        Self(0x52, "gyroscope", .unsigned(2, places: 3), unit: "°/s"),
        Self(0x53, "text", .text),
        Self(0x54, "raw", .raw),
        Self(0x55, "volume_storage", .unsigned(4, places: 3), unit: "L"),
        Self(0x56, "conductivity", .unsigned(2), unit: "µS/cm"),
        Self(0x57, "temperature", .signed(1), unit: "°C"),
        Self(0x58, "temperature", .signed(1, places: 2, step: 35), unit: "°C"),
        Self(0x59, "count", .signed(1)),
        Self(0x5A, "count", .signed(2)),
        Self(0x5B, "count", .signed(4)),
        Self(0x5C, "power", .signed(4, places: 2), unit: "W"),
        Self(0x5D, "current", .signed(2, places: 3), unit: "A"),
        Self(0x5E, "direction", .unsigned(2, places: 2), unit: "°"),
        Self(0x5F, "precipitation", .unsigned(2, places: 1), unit: "mm"),
        Self(0x60, "channel", .unsigned(1)),
        Self(0x61, "rotational_speed", .unsigned(2), unit: "rpm"),
        Self(0x62, "speed", .signed(4, places: 6), unit: "m/s"),
        Self(0x63, "acceleration", .signed(4, places: 6), unit: "m/s²"),
        Self(0x64, "light_level", .unsigned(1)),
        Self(0x65, "settings_revision", .unsigned(1)),
        Self(0xF0, "device_type", .unsigned(2)),
        Self(0xF1, "firmware_version", .version(4)),
        Self(0xF2, "firmware_version", .version(3)),
    ]
}
