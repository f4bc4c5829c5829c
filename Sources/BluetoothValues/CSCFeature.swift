import BluetoothBase

/// CSC Feature, 0x2A5C: what a cycling speed and cadence sensor can do.
public struct CSCFeature: CharacteristicValue, OptionSet, Hashable {
    public static var uuid: BluetoothUUID { .init(0x2A5C) }

    public var rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let wheelRevolutionData = Self(rawValue: 0x0001)
    public static let crankRevolutionData = Self(rawValue: 0x0002)
    /// Its location on the bicycle can be set.
    public static let multipleSensorLocations = Self(rawValue: 0x0004)

    private static let all: Self = [.wheelRevolutionData, .crankRevolutionData, .multipleSensorLocations]

    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        self = Self(rawValue: try reader.readUInt16()).intersection(.all)
        try reader.finish()
    }

    public func encode(into writer: inout ByteWriter) { writer.append(intersection(.all).rawValue) }
}
