import BluetoothBase

/// Temperature Measurement, 0x2A1C: the measurement that a clinical thermometer indicates.
public struct TemperatureMeasurement: CharacteristicValue, Hashable {
    /// The characteristic's UUID, 0x2A1C.
    public static var uuid: BluetoothUUID { .init(0x2A1C) }

    /// The unit of a temperature: degrees Celsius or Fahrenheit.
    public enum Unit: Hashable, Sendable { case celsius, fahrenheit }

    /// The temperature in `unit`; `.nan` if the measurement failed.
    public var temperature: MedFloat32
    /// The unit of `temperature`.
    public var unit: Unit
    /// The time of the measurement; nil means now.
    public var timeStamp: DateTime?
    /// The location on the body; nil if the thermometer does not send it.
    public var type: TemperatureType?

    /// Creates a measurement, by default in degrees Celsius, without a timestamp and a location.
    public init(
        temperature: MedFloat32, unit: Unit = .celsius, timeStamp: DateTime? = nil, type: TemperatureType? = nil
    ) {
        self.temperature = temperature
        self.unit = unit
        self.timeStamp = timeStamp
        self.type = type
    }

    /// The temperature in degrees Celsius, regardless of `unit`; NaN if the measurement failed.
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

    /// Decodes the flags and the fields that they announce. Further octets are ignored.
    ///
    /// - Throws: also `.invalidValue` if the timestamp is invalid.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        let flags = Flags(rawValue: try reader.readUInt8())
        try reader.require(flags.length)
        temperature = try reader.readMedFloat32()
        unit = flags.contains(.isFahrenheit) ? .fahrenheit : .celsius
        timeStamp = flags.contains(.timeStamp) ? try reader.readDateTime() : nil
        type = flags.contains(.type) ? TemperatureType(rawValue: try reader.readUInt8()) : nil
    }

    /// Appends the flags, the temperature, and the timestamp and the location if they are not nil.
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

/// Temperature Type, 0x2A1D: the location on the body at which a thermometer measures. It is a separate characteristic
/// or a field of a measurement.
///
/// This is not an enumeration, because a thermometer may send locations that are newer than this list.
public struct TemperatureType: CharacteristicValue, RawRepresentable, Hashable {
    /// The characteristic's UUID, 0x2A1D.
    public static var uuid: BluetoothUUID { .init(0x2A1D) }

    /// The location: 1 to 9 are assigned, and all other values are reserved for future use.
    public var rawValue: UInt8

    /// Creates a location from its value, whether or not the value is assigned.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The armpit.
    public static let armpit = Self(rawValue: 1)
    /// The body in general.
    public static let body = Self(rawValue: 2)
    /// Usually the ear lobe.
    public static let ear = Self(rawValue: 3)
    /// A finger.
    public static let finger = Self(rawValue: 4)
    /// The gastrointestinal tract.
    public static let gastrointestinalTract = Self(rawValue: 5)
    /// The mouth.
    public static let mouth = Self(rawValue: 6)
    /// The rectum.
    public static let rectum = Self(rawValue: 7)
    /// A toe.
    public static let toe = Self(rawValue: 8)
    /// The ear drum.
    public static let tympanum = Self(rawValue: 9)

    /// Decodes exactly one octet. Every value is valid.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        rawValue = try reader.readUInt8()
        try reader.finish()
    }

    /// Appends one octet.
    public func encode(into writer: inout ByteWriter) { writer.append(rawValue) }
}
