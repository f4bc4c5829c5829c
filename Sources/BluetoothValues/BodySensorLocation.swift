import BluetoothBase

/// Body Sensor Location, 0x2A38: the part of the body on which a heart rate sensor is worn.
///
/// This is not an enumeration, because a sensor may send locations that are newer than this list.
public struct BodySensorLocation: CharacteristicValue, RawRepresentable, Hashable {
    /// The characteristic's UUID, 0x2A38.
    public static var uuid: BluetoothUUID { .init(0x2A38) }

    /// The location: 0 to 6 are assigned, and higher values are reserved for future use.
    public var rawValue: UInt8

    /// Creates a location from its value, whether or not the value is assigned.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A location that is not in the list.
    public static let other = Self(rawValue: 0)
    /// The chest.
    public static let chest = Self(rawValue: 1)
    /// The wrist.
    public static let wrist = Self(rawValue: 2)
    /// A finger.
    public static let finger = Self(rawValue: 3)
    /// The hand.
    public static let hand = Self(rawValue: 4)
    /// An ear lobe.
    public static let earLobe = Self(rawValue: 5)
    /// The foot.
    public static let foot = Self(rawValue: 6)

    /// Decodes exactly one octet. Every value is valid.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        rawValue = try reader.readUInt8()
        try reader.finish()
    }

    /// Appends one octet.
    public func encode(into writer: inout ByteWriter) { writer.append(rawValue) }
}

extension BodySensorLocation: CustomStringConvertible {
    /// The location in lower case, such as `ear lobe`, or `location 7` if the value is not assigned.
    public var description: String {
        switch self {
        case .other: "other"
        case .chest: "chest"
        case .wrist: "wrist"
        case .finger: "finger"
        case .hand: "hand"
        case .earLobe: "ear lobe"
        case .foot: "foot"
        default: "location \(rawValue)"
        }
    }
}
