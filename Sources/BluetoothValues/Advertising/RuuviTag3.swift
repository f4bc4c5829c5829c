import BluetoothBase

/// The data of RuuviTags with older firmware (Ruuvi's Data format 3, RAWv1).
public struct RuuviTag3: AdvertisedValue {
    /// The name of the format: `ruuvitag-3`.
    public static let formatName = "ruuvitag-3"
    /// Manufacturer data of Ruuvi Innovations, whose company identifier is 0x0499.
    public static let container = RuuviTag5.container
    private static let format: UInt8 = 3

    /// The relative humidity in percent, in steps of 0.5; up to 127.5.
    public var humidity: Double
    /// The temperature in degrees Celsius, in steps of 0.01, from -127.99 to 127.99.
    public var temperature: Double
    /// The air pressure in Pa, from 50,000 to 115,535.
    public var pressure: UInt32
    /// The acceleration in thousandths of standard gravity.
    public var acceleration: RuuviAcceleration
    /// The battery voltage in mV.
    public var batteryVoltage: UInt16

    /// Creates a measurement. Values outside the range of a field are clamped when they are encoded.
    public init(
        humidity: Double, temperature: Double, pressure: UInt32, acceleration: RuuviAcceleration, batteryVoltage: UInt16
    ) {
        self.humidity = humidity
        self.temperature = temperature
        self.pressure = pressure
        self.acceleration = acceleration
        self.batteryVoltage = batteryVoltage
    }

    /// Decodes exactly 14 octets. Throws `.invalidValue` for another data format, or if the hundredths of a degree
    /// exceed 99.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        try reader.require(14)
        guard try reader.readUInt8() == Self.format else { throw DecodingFailure(.invalidValue, at: 0) }
        humidity = Double(try reader.readUInt8()) / 2
        // A sign bit and the whole degrees, followed by hundredths.
        let degrees = try reader.readUInt8(), hundredths = try reader.readUInt8(atMost: 99)
        let magnitude = (Double(degrees & 0x7F) * 100 + Double(hundredths)) / 100
        temperature = degrees & 0x80 == 0 ? magnitude : 0 - magnitude
        pressure = UInt32(try reader.readUInt16().byteSwapped) + 50_000
        acceleration = try reader.readRuuviAcceleration()
        batteryVoltage = try reader.readUInt16().byteSwapped
        try reader.finish()
    }

    /// Appends the format number and the measurements, rounded to the resolution of each field.
    public func encode(into writer: inout ByteWriter) {
        writer.append(Self.format)
        writer.append(UInt8(nearest: humidity * 2))
        let hundredths = Int16(nearest: temperature * 100, in: -12799...12799)
        writer.append(UInt8(hundredths.magnitude / 100) | (hundredths < 0 ? 0x80 : 0))
        writer.append(UInt8(hundredths.magnitude % 100))
        writer.append(UInt16(clamping: Int64(pressure) - 50_000).byteSwapped)
        writer.append(acceleration)
        writer.append(batteryVoltage.byteSwapped)
    }

    /// All measurements: temperature, humidity, pressure, acceleration and battery voltage.
    public var fields: [AdvertisedField] {
        [
            AdvertisedField("temperature", temperature, places: 2, unit: "°C"),
            AdvertisedField("humidity", humidity, places: 1, unit: "%"),
            AdvertisedField("pressure", pressure, unit: "Pa"),
        ] + acceleration.fields + [AdvertisedField("battery", batteryVoltage, unit: "mV")]
    }
}

/// The acceleration of a RuuviTag along its three axes, in thousandths of standard gravity.
public struct RuuviAcceleration: Equatable, Sendable {
    /// The acceleration along the X axis.
    public var x: Int16
    /// The acceleration along the Y axis.
    public var y: Int16
    /// The acceleration along the Z axis.
    public var z: Int16

    /// Creates an acceleration in thousandths of standard gravity. -32768 means that an axis is not measured in data
    /// format 5.
    public init(x: Int16, y: Int16, z: Int16) {
        self.x = x
        self.y = y
        self.z = z
    }

    var fields: [AdvertisedField] {
        [("acceleration_x", x), ("acceleration_y", y), ("acceleration_z", z)]
            .map { AdvertisedField($0.0, $0.1, unit: "mG") }
    }
}

extension ByteReader {
    @_lifetime(self: copy self)
    mutating func readRuuviAcceleration() throws(DecodingFailure) -> RuuviAcceleration {
        let x = try readUInt16().byteSwapped, y = try readUInt16().byteSwapped, z = try readUInt16().byteSwapped
        return RuuviAcceleration(x: Int16(bitPattern: x), y: Int16(bitPattern: y), z: Int16(bitPattern: z))
    }
}

extension ByteWriter {
    mutating func append(_ acceleration: RuuviAcceleration) {
        for axis in [acceleration.x, acceleration.y, acceleration.z] { append(axis.byteSwapped) }
    }
}
