import BluetoothBase

/// CSC Feature, 0x2A5C: the features of a cycling speed and cadence sensor.
public struct CSCFeature: CharacteristicValue, OptionSet, Hashable {
    /// The characteristic's UUID, 0x2A5C.
    public static var uuid: BluetoothUUID { .init(0x2A5C) }

    /// The feature bits. Bits 3 to 15 are reserved for future use.
    public var rawValue: UInt16

    /// Creates a set of features from its bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The sensor measures wheel revolutions, from which speed follows.
    public static let wheelRevolutionData = Self(rawValue: 0x0001)
    /// The sensor measures crank revolutions, from which cadence follows.
    public static let crankRevolutionData = Self(rawValue: 0x0002)
    /// The location of the sensor on the bicycle can be set.
    public static let multipleSensorLocations = Self(rawValue: 0x0004)

    private static let all: Self = [.wheelRevolutionData, .crankRevolutionData, .multipleSensorLocations]

    /// Decodes exactly two octets. Reserved bits are cleared.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        self = Self(rawValue: try reader.readUInt16()).intersection(.all)
        try reader.finish()
    }

    /// Appends two octets, with the reserved bits cleared.
    public func encode(into writer: inout ByteWriter) { writer.append(intersection(.all).rawValue) }
}
