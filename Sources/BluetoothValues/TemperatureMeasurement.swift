import BluetoothBase

/// Temperature Measurement, 0x2A1C: what a clinical thermometer indicates.
public struct TemperatureMeasurement: CharacteristicValue, Hashable {
    public static var uuid: BluetoothUUID { .init(0x2A1C) }

    public enum Unit: Hashable, Sendable { case celsius, fahrenheit }

    /// The temperature, in `unit`; `.nan` where the measurement failed.
    public var temperature: MedFloat32
    public var unit: Unit
    /// When it was measured; nil means now.
    public var timeStamp: DateTime?
    /// Where on the body it was measured.
    public var type: TemperatureType?

    public init(
        temperature: MedFloat32, unit: Unit = .celsius, timeStamp: DateTime? = nil, type: TemperatureType? = nil
    ) {
        self.temperature = temperature
        self.unit = unit
        self.timeStamp = timeStamp
        self.type = type
    }

    /// The temperature in degrees Celsius, whatever the unit; NaN where the measurement failed.
    public var celsius: Double {
        switch unit {
        case .celsius: Double(temperature)
        case .fahrenheit: (Double(temperature) - 32) * 5 / 9
        }
    }

    private struct Flags: OptionSet {
        var rawValue: UInt8

        static var isFahrenheit: Self { .init(rawValue: 0x01) }
        static var timeStamp: Self { .init(rawValue: 0x02) }
        static var type: Self { .init(rawValue: 0x04) }

        /// The minimum number of octets that follow.
        var length: Int { 4 + (contains(.timeStamp) ? DateTime.length : 0) + (contains(.type) ? 1 : 0) }
    }

    /// - Throws: also `.invalidValue` if the time stamp is invalid.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        let flags = Flags(rawValue: try reader.readUInt8())
        try reader.require(flags.length)
        temperature = try reader.readMedFloat32()
        unit = flags.contains(.isFahrenheit) ? .fahrenheit : .celsius
        timeStamp = flags.contains(.timeStamp) ? try reader.readDateTime() : nil
        type = flags.contains(.type) ? TemperatureType(rawValue: try reader.readUInt8()) : nil
    }

    public func encode(into writer: inout ByteWriter) {
        var flags: Flags = unit == .fahrenheit ? .isFahrenheit : []
        if timeStamp != nil { flags.insert(.timeStamp) }
        if type != nil { flags.insert(.type) }

        writer.append(flags.rawValue)
        writer.append(temperature)
        if let timeStamp { writer.append(timeStamp) }
        if let type { type.encode(into: &writer) }
    }
}

/// Temperature Type, 0x2A1D: where on the body a thermometer measures; a separate characteristic, or a field of a
/// measurement.
///
/// Not an enumeration, because a thermometer may send locations newer than this list.
public struct TemperatureType: CharacteristicValue, RawRepresentable, Hashable {
    public static var uuid: BluetoothUUID { .init(0x2A1D) }

    public var rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let armpit = Self(rawValue: 1)
    public static let body = Self(rawValue: 2)
    /// Usually the ear lobe.
    public static let ear = Self(rawValue: 3)
    public static let finger = Self(rawValue: 4)
    public static let gastrointestinalTract = Self(rawValue: 5)
    public static let mouth = Self(rawValue: 6)
    public static let rectum = Self(rawValue: 7)
    public static let toe = Self(rawValue: 8)
    /// The ear drum.
    public static let tympanum = Self(rawValue: 9)

    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        rawValue = try reader.readUInt8()
        try reader.finish()
    }

    public func encode(into writer: inout ByteWriter) { writer.append(rawValue) }
}
