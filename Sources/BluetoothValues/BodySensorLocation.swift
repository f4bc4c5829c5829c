import BluetoothBase

/// Body Sensor Location, 0x2A38: where a heart rate sensor is worn.
///
/// Not an enumeration, because a sensor may send locations newer than this list.
public struct BodySensorLocation: CharacteristicValue, RawRepresentable, Hashable {
    public static var uuid: BluetoothUUID { .init(0x2A38) }

    public var rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let other = Self(rawValue: 0)
    public static let chest = Self(rawValue: 1)
    public static let wrist = Self(rawValue: 2)
    public static let finger = Self(rawValue: 3)
    public static let hand = Self(rawValue: 4)
    public static let earLobe = Self(rawValue: 5)
    public static let foot = Self(rawValue: 6)

    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        rawValue = try reader.readUInt8()
        try reader.finish()
    }

    public func encode(into writer: inout ByteWriter) { writer.append(rawValue) }
}

extension BodySensorLocation: CustomStringConvertible {
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
