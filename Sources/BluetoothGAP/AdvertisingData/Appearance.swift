import BluetoothBase
import BluetoothNumbers

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
    public var categoryName: String? { AssignedNumbers.name(ofAppearance: rawValue & ~0x3F) }

    /// The category and the number: `Heart Rate Sensor (0x0341)`.
    public var description: String { "\(categoryName ?? "Reserved") (0x\(hexadecimal(rawValue, digits: 4)))" }
}
