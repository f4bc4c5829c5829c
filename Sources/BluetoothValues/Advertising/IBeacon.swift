import BluetoothBase

/// Apple's iBeacon: which place this is (Proximity Beacon Specification, Release R1).
public struct IBeacon: AdvertisedValue {
    public static let formatName = "ibeacon"
    public static let container = AdvertisedContainer.manufacturerData(0x004C)
    /// The type and the length of Apple's data, which begins with them.
    private static let prefix: UInt16 = 0x1502

    /// Whose beacons these are.
    public var uuid: BluetoothUUID
    /// Which group of them.
    public var major: UInt16
    /// Which of the group.
    public var minor: UInt16
    /// The signal strength at one metre, in dBm.
    public var measuredPower: Int8

    public init(uuid: BluetoothUUID, major: UInt16, minor: UInt16, measuredPower: Int8 = -59) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
        self.measuredPower = measuredPower
    }

    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        try reader.require(23)
        guard try reader.readUInt16() == Self.prefix else { throw DecodingFailure(.invalidValue, at: 0) }
        let high = try reader.readUInt64().byteSwapped
        uuid = BluetoothUUID(high: high, low: try reader.readUInt64().byteSwapped)
        major = try reader.readUInt16().byteSwapped
        minor = try reader.readUInt16().byteSwapped
        measuredPower = try reader.readInt8()
        try reader.finish()
    }

    public func encode(into writer: inout ByteWriter) {
        writer.append(Self.prefix)
        writer.append(uuid.high.byteSwapped)
        writer.append(uuid.low.byteSwapped)
        writer.append(major.byteSwapped)
        writer.append(minor.byteSwapped)
        writer.append(measuredPower)
    }

    public var fields: [AdvertisedField] {
        [
            AdvertisedField("uuid", .text(uuid.description)), AdvertisedField("major", major),
            AdvertisedField("minor", minor), AdvertisedField("measured_power", measuredPower, unit: "dBm"),
        ]
    }
}
