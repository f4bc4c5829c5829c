import BluetoothBase
import BluetoothNumbers

/// The external appearance of a device (Core Supplement, Part A, 1.12; the values are in Assigned Numbers, 2.6).
public struct Appearance: RawRepresentable, Hashable, Sendable {
    /// The appearance value: the category in the upper ten bits and the subcategory in the lower six.
    public var rawValue: UInt16

    /// Creates an appearance from its value, whether or not the value is assigned.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Creates an appearance from a category, 0 to 1023, and a subcategory, 0 to 63. Subcategory 0 is the generic one.
    /// Higher bits are dropped.
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

    /// An unknown appearance: category 0, subcategory 0.
    public static let unknown = Self(rawValue: 0)
    /// A phone: category 1, generic.
    public static let phone = Self(category: 1)
    /// A computer: category 2, generic.
    public static let computer = Self(category: 2)
    /// A watch: category 3, generic.
    public static let watch = Self(category: 3)
    /// A tag: category 8, generic.
    public static let tag = Self(category: 8)
    /// A thermometer: category 12, generic.
    public static let thermometer = Self(category: 12)
    /// A heart rate sensor: category 13, generic.
    public static let heartRateSensor = Self(category: 13)
    /// A human interface device (HID): category 15, generic.
    public static let humanInterfaceDevice = Self(category: 15)
    /// A keyboard: subcategory 1 of the human interface devices.
    public static let keyboard = Self(category: 15, subcategory: 1)
    /// A mouse: subcategory 2 of the human interface devices.
    public static let mouse = Self(category: 15, subcategory: 2)
    /// A sensor: category 21, generic.
    public static let sensor = Self(category: 21)
}

extension Appearance: CustomStringConvertible {
    /// The name of the category; nil if it is not assigned.
    public var categoryName: String? { AssignedNumbers.name(ofAppearance: rawValue & ~0x3F) }

    /// The category and the value, for example `Heart Rate Sensor (0x0341)`.
    public var description: String { "\(categoryName ?? "Reserved") (0x\(hexadecimal(rawValue, digits: 4)))" }
}
