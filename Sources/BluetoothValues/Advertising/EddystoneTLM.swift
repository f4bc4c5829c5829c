import BluetoothBase

/// Unencrypted Eddystone-TLM: the telemetry of a beacon (Eddystone Protocol Specification, Eddystone-TLM).
public struct EddystoneTLM: AdvertisedValue {
    /// The name of the format: `eddystone-tlm`.
    public static let formatName = "eddystone-tlm"
    /// Service data with Eddystone's 16-bit UUID 0xFEAA.
    public static let container = AdvertisedContainer.serviceData(Eddystone.service)

    /// The version of the layout. Version 1 is encrypted.
    private static let version: UInt8 = 0
    private static let noTemperature = Int16.min

    /// The battery voltage in mV; nil if it is not measured, for example because the beacon has no battery.
    public var batteryVoltage: UInt16?
    /// The temperature in degrees Celsius, in steps of 1/256; nil if it is not measured.
    public var temperature: Double?
    /// The number of advertisements of all kinds since the beacon started.
    public var advertisementCount: UInt32
    /// The time since the beacon started, in tenths of a second.
    public var tenthsOfSecondsSinceStart: UInt32

    /// Creates the telemetry of a beacon. Pass nil for a voltage or a temperature that is not measured.
    public init(
        batteryVoltage: UInt16?, temperature: Double?, advertisementCount: UInt32, tenthsOfSecondsSinceStart: UInt32
    ) {
        self.batteryVoltage = batteryVoltage
        self.temperature = temperature
        self.advertisementCount = advertisementCount
        self.tenthsOfSecondsSinceStart = tenthsOfSecondsSinceStart
    }

    /// Decodes a frame of 14 octets. Throws `.invalidValue` for another frame type, or for another version, such as the
    /// encrypted one.
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

    /// Appends the frame. The temperature is rounded to 1/256 °C and clamped to the range of 16 bits.
    public func encode(into writer: inout ByteWriter) {
        writer.append(Eddystone.Frame.tlm.rawValue)
        writer.append(Self.version)
        writer.append((batteryVoltage ?? 0).byteSwapped)
        let degrees = temperature.map { Int16(nearest: $0 * 256, in: (Self.noTemperature + 1)...Int16.max) }
        writer.append((degrees ?? Self.noTemperature).byteSwapped)
        writer.append(advertisementCount.byteSwapped)
        writer.append(tenthsOfSecondsSinceStart.byteSwapped)
    }

    /// The battery voltage and the temperature if they are measured, the advertisement count, and the uptime in
    /// seconds.
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
