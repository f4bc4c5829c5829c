import BluetoothBase

/// The data of RuuviTags (Ruuvi's Data format 5, RAWv2). Values that a tag can't measure are nil.
public struct RuuviTag5: AdvertisedValue {
    /// The name of the format: `ruuvitag-5`.
    public static let formatName = "ruuvitag-5"
    /// Manufacturer data of Ruuvi Innovations, whose company identifier is 0x0499.
    public static let container = AdvertisedContainer.manufacturerData(0x0499)
    private static let format: UInt8 = 5
    private static let noPower: UInt16 = 0x1F
    private static let noVoltage: UInt16 = 0x7FF

    /// The temperature in degrees Celsius, in steps of 0.005, from -163.835 to 163.835.
    public var temperature: Double?
    /// The relative humidity in percent, in steps of 0.0025; up to 163.835.
    public var humidity: Double?
    /// The air pressure in Pa, from 50,000 to 115,534.
    public var pressure: UInt32?
    /// The acceleration; nil if it is not available for all axes.
    public var acceleration: RuuviAcceleration?
    /// The battery voltage in mV, from 1600 to 3646.
    public var batteryVoltage: UInt16?
    /// The transmit power in dBm, an even number from -40 to 20.
    public var txPower: Int8?
    /// The number of movements detected, up to 254.
    public var movementCount: UInt8?
    /// The sequence number of the measurement, up to 65,534.
    public var sequenceNumber: UInt16?
    /// The tag's address.
    public var address: DeviceAddress?

    /// Creates a measurement. Nil means that the tag can't measure the value.
    public init(
        temperature: Double? = nil, humidity: Double? = nil, pressure: UInt32? = nil,
        acceleration: RuuviAcceleration? = nil, batteryVoltage: UInt16? = nil, txPower: Int8? = nil,
        movementCount: UInt8? = nil, sequenceNumber: UInt16? = nil, address: DeviceAddress? = nil
    ) {
        self.temperature = temperature
        self.humidity = humidity
        self.pressure = pressure
        self.acceleration = acceleration
        self.batteryVoltage = batteryVoltage
        self.txPower = txPower
        self.movementCount = movementCount
        self.sequenceNumber = sequenceNumber
        self.address = address
    }

    /// Decodes exactly 24 octets. Throws `.invalidValue` for another data format.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        try reader.require(24)
        guard try reader.readUInt8() == Self.format else { throw DecodingFailure(.invalidValue, at: 0) }
        let temperature = Int16(bitPattern: try reader.readUInt16().byteSwapped)
        self.temperature = temperature == .min ? nil : Double(temperature) / 200
        let humidity = try reader.readUInt16().byteSwapped
        self.humidity = humidity == .max ? nil : Double(humidity) / 400
        let pressure = try reader.readUInt16().byteSwapped
        self.pressure = pressure == .max ? nil : UInt32(pressure) + 50_000
        let acceleration = try reader.readRuuviAcceleration()
        self.acceleration = acceleration.isMeasured ? acceleration : nil
        let power = try reader.readUInt16().byteSwapped
        batteryVoltage = power >> 5 == Self.noVoltage ? nil : power >> 5 + 1600
        txPower = power & 0x1F == Self.noPower ? nil : Int8(truncatingIfNeeded: power & 0x1F) * 2 - 40
        let movements = try reader.readUInt8()
        movementCount = movements == .max ? nil : movements
        let sequenceNumber = try reader.readUInt16().byteSwapped
        self.sequenceNumber = sequenceNumber == .max ? nil : sequenceNumber
        let address = try reader.readLittleEndian(byteCount: 6).byteSwapped >> 16
        self.address = address == 0xFFFF_FFFF_FFFF ? nil : DeviceAddress(address, kind: .random)
        try reader.finish()
    }

    /// Appends the format number and the measurements, rounded to the resolution of each field. Nil is encoded as the
    /// reserved value of the field.
    public func encode(into writer: inout ByteWriter) {
        writer.append(Self.format)
        let degrees = temperature.map { Int16(nearest: $0 * 200, in: (.min + 1)...(.max)) } ?? .min
        writer.append(degrees.byteSwapped)
        writer.append((humidity.map { UInt16(nearest: $0 * 400, in: 0...(.max - 1)) } ?? .max).byteSwapped)
        let pressure = pressure.map { min(UInt16(clamping: Int64($0) - 50_000), .max - 1) } ?? .max
        writer.append(pressure.byteSwapped)
        writer.append(acceleration ?? .unmeasured)
        let voltage = batteryVoltage.map { min(max($0, 1600) - 1600, Self.noVoltage - 1) } ?? Self.noVoltage
        let power = txPower.map { UInt16(max(-40, min(20, Int($0))) + 40) / 2 } ?? Self.noPower
        writer.append((voltage << 5 | power).byteSwapped)
        writer.append(movementCount.map { min($0, .max - 1) } ?? .max)
        writer.append((sequenceNumber.map { min($0, .max - 1) } ?? .max).byteSwapped)
        let address = address?.value ?? 0xFFFF_FFFF_FFFF
        writer.append((address << 16).byteSwapped, byteCount: 6)
    }

    /// The measurements that are not nil. The address is not a field.
    public var fields: [AdvertisedField] {
        var fields: [AdvertisedField] = []
        if let temperature { fields.append(AdvertisedField("temperature", temperature, places: 3, unit: "°C")) }
        if let humidity { fields.append(AdvertisedField("humidity", humidity, places: 4, unit: "%")) }
        if let pressure { fields.append(AdvertisedField("pressure", pressure, unit: "Pa")) }
        if let acceleration { fields += acceleration.fields }
        if let batteryVoltage { fields.append(AdvertisedField("battery", batteryVoltage, unit: "mV")) }
        if let txPower { fields.append(AdvertisedField("tx_power", txPower, unit: "dBm")) }
        if let movementCount { fields.append(AdvertisedField("movements", movementCount)) }
        if let sequenceNumber { fields.append(AdvertisedField("sequence_number", sequenceNumber)) }
        return fields
    }
}

extension RuuviAcceleration {
    fileprivate static var unmeasured: Self { Self(x: .min, y: .min, z: .min) }
    fileprivate var isMeasured: Bool { x != .min && y != .min && z != .min }
}
