import BluetoothBase

/// Apple's iBeacon, which identifies a place (Proximity Beacon Specification, Release R1).
public struct IBeacon: AdvertisedValue {
    /// The name of the format: `ibeacon`.
    public static let formatName = "ibeacon"
    /// Manufacturer data of Apple, whose company identifier is 0x004C.
    public static let container = AdvertisedContainer.manufacturerData(0x004C)
    /// The type and the length, with which Apple's data begins.
    private static let prefix: UInt16 = 0x1502

    /// Identifies the operator of the beacons.
    public var uuid: BluetoothUUID
    /// Identifies a group of the operator's beacons.
    public var major: UInt16
    /// Identifies the beacon in its group.
    public var minor: UInt16
    /// The signal strength at one metre, in dBm.
    public var measuredPower: Int8

    /// Creates the content of a beacon. The default measured power of -59 dBm is a typical value. Calibrate it for each
    /// device.
    public init(uuid: BluetoothUUID, major: UInt16, minor: UInt16, measuredPower: Int8 = -59) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
        self.measuredPower = measuredPower
    }

    /// Decodes exactly 23 octets. Throws `.invalidValue` if the data has another of Apple's types.
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

    /// Appends the type, the length, the UUID, the major and minor numbers and the measured power.
    public func encode(into writer: inout ByteWriter) {
        writer.append(Self.prefix)
        writer.append(uuid.high.byteSwapped)
        writer.append(uuid.low.byteSwapped)
        writer.append(major.byteSwapped)
        writer.append(minor.byteSwapped)
        writer.append(measuredPower)
    }

    /// The UUID as text, the major and minor numbers, and the measured power in dBm.
    public var fields: [AdvertisedField] {
        [
            AdvertisedField("uuid", .text(uuid.description)), AdvertisedField("major", major),
            AdvertisedField("minor", minor), AdvertisedField("measured_power", measuredPower, unit: "dBm"),
        ]
    }
}
