import BluetoothBase

/// What a device looks like to its user (Core Supplement, Part A, 1.12; the values are in Assigned Numbers, 2.6).
public struct Appearance: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt16

    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// A category, 0 to 1023, and a subcategory, 0 to 63, where 0 is generic; higher bits are dropped.
    @inlinable
    public init(category: UInt16, subcategory: UInt8 = 0) {
        rawValue = category << 6 | UInt16(subcategory & 0x3F)
    }

    /// The upper ten bits.
    @inlinable
    public var category: UInt16 { rawValue >> 6 }

    /// The lower six bits.
    @inlinable
    public var subcategory: UInt8 { UInt8(truncatingIfNeeded: rawValue & 0x3F) }

    public static let unknown = Self(rawValue: 0)
    public static let phone = Self(category: 1)
    public static let computer = Self(category: 2)
    public static let watch = Self(category: 3)
    public static let tag = Self(category: 8)
    public static let thermometer = Self(category: 12)
    public static let heartRateSensor = Self(category: 13)
    public static let humanInterfaceDevice = Self(category: 15)
    public static let keyboard = Self(category: 15, subcategory: 1)
    public static let mouse = Self(category: 15, subcategory: 2)
    public static let sensor = Self(category: 21)
}

extension Appearance: CustomStringConvertible {
    /// The name of the category; nil for one that has none.
    public var categoryName: String? {
        switch category {
        case 0: "Unknown"
        case 1: "Phone"
        case 2: "Computer"
        case 3: "Watch"
        case 4: "Clock"
        case 5: "Display"
        case 6: "Remote Control"
        case 7: "Eye-glasses"
        case 8: "Tag"
        case 9: "Keyring"
        case 10: "Media Player"
        case 11: "Barcode Scanner"
        case 12: "Thermometer"
        case 13: "Heart Rate Sensor"
        case 14: "Blood Pressure"
        case 15: "Human Interface Device"
        case 16: "Glucose Meter"
        case 17: "Running Walking Sensor"
        case 18: "Cycling"
        case 19: "Control Device"
        case 20: "Network Device"
        case 21: "Sensor"
        case 22: "Light Fixtures"
        case 23: "Fan"
        case 24: "HVAC"
        case 25: "Air Conditioning"
        case 26: "Humidifier"
        case 27: "Heating"
        case 28: "Access Control"
        case 29: "Motorized Device"
        case 30: "Power Device"
        case 31: "Light Source"
        case 32: "Window Covering"
        case 33: "Audio Sink"
        case 34: "Audio Source"
        case 35: "Motorized Vehicle"
        case 36: "Domestic Appliance"
        case 37: "Wearable Audio Device"
        case 38: "Aircraft"
        case 39: "AV Equipment"
        case 40: "Display Equipment"
        case 41: "Hearing aid"
        case 42: "Gaming"
        case 43: "Signage"
        case 49: "Pulse Oximeter"
        case 50: "Weight Scale"
        case 51: "Personal Mobility Device"
        case 52: "Continuous Glucose Monitor"
        case 53: "Insulin Pump"
        case 54: "Medication Delivery"
        case 55: "Spirometer"
        case 81: "Outdoor Sports Activity"
        default: nil
        }
    }

    /// The category and the number: `Heart Rate Sensor (0x0341)`.
    public var description: String { "\(categoryName ?? "Reserved") (0x\(hexadecimal(rawValue, digits: 4)))" }
}
