import BluetoothBase

/// Eddystone-TLM, unencrypted: how a beacon is (Eddystone Protocol Specification, Eddystone-TLM).
public struct EddystoneTLM: AdvertisedValue {
    public static let formatName = "eddystone-tlm"
    public static let container = AdvertisedContainer.serviceData(Eddystone.service)

    /// The version of the layout; 1 is encrypted.
    private static let version: UInt8 = 0
    private static let noTemperature = Int16.min

    /// The voltage of the battery in mV; nil if it is not measured, as where there is none.
    public var batteryVoltage: UInt16?
    /// The temperature in degrees Celsius, in steps of 1/256; nil if it is not measured.
    public var temperature: Double?
    /// How many advertisements were sent since the beacon began, of all kinds.
    public var advertisementCount: UInt32
    /// The time since the beacon began, in tenths of a second.
    public var tenthsOfSecondsSinceStart: UInt32

    public init(
        batteryVoltage: UInt16?, temperature: Double?, advertisementCount: UInt32, tenthsOfSecondsSinceStart: UInt32
    ) {
        self.batteryVoltage = batteryVoltage
        self.temperature = temperature
        self.advertisementCount = advertisementCount
        self.tenthsOfSecondsSinceStart = tenthsOfSecondsSinceStart
    }

    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        try reader.read(.tlm, length: 14)
        guard try reader.readUInt8() == Self.version else { throw DecodingFailure(.invalidValue, at: 1) }
        let voltage = try reader.readUInt16().byteSwapped
        batteryVoltage = voltage == 0 ? nil : voltage
        let degrees = Int16(bitPattern: try reader.readUInt16().byteSwapped)
        temperature = degrees == Self.noTemperature ? nil : Double(degrees) / 256
        advertisementCount = try reader.readUInt32().byteSwapped
        tenthsOfSecondsSinceStart = try reader.readUInt32().byteSwapped
        try reader.finish()
    }

    public func encode(into writer: inout ByteWriter) {
        writer.append(Eddystone.Frame.tlm.rawValue)
        writer.append(Self.version)
        writer.append((batteryVoltage ?? 0).byteSwapped)
        let degrees = temperature.map { Int16(nearest: $0 * 256, in: (Self.noTemperature + 1)...Int16.max) }
        writer.append((degrees ?? Self.noTemperature).byteSwapped)
        writer.append(advertisementCount.byteSwapped)
        writer.append(tenthsOfSecondsSinceStart.byteSwapped)
    }

    public var fields: [AdvertisedField] {
        var fields: [AdvertisedField] = []
        if let batteryVoltage { fields.append(AdvertisedField("battery", batteryVoltage, unit: "mV")) }
        if let temperature {
            fields.append(AdvertisedField("temperature", temperature, places: 2, unit: "°C"))
        }
        fields.append(AdvertisedField("advertisements", advertisementCount))
        let uptime = FixedPointNumber(Int64(tenthsOfSecondsSinceStart), places: 1)
        fields.append(AdvertisedField("uptime", .number(uptime), unit: "s"))
        return fields
    }
}
