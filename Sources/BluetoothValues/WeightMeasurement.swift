import BluetoothBase

/// Weight Measurement, 0x2A9D: the measurement that a weight scale indicates.
public struct WeightMeasurement: CharacteristicValue, Hashable {
    /// The characteristic's UUID, 0x2A9D.
    public static var uuid: BluetoothUUID { .init(0x2A9D) }

    /// The units of weight and height, each with its resolution.
    public enum Units: Hashable, Sendable {
        /// Kilograms with a resolution of 0.005, and metres with a resolution of 0.001.
        case si
        /// Pounds with a resolution of 0.01, and inches with a resolution of 0.1.
        case imperial
    }

    /// The body mass index and height, sent by scales that know the person's height.
    public struct Body: Hashable, Sendable {
        /// The body mass index in kg/m², regardless of the units, with a resolution of 0.1.
        public var massIndex: Double
        /// The height in metres or inches.
        public var height: Double

        /// Creates a body mass index in kg/m² and a height in the units of the measurement.
        public init(massIndex: Double, height: Double) {
            self.massIndex = massIndex
            self.height = height
        }
    }

    /// The weight in kilograms or pounds; nil if the measurement was unsuccessful.
    public var weight: Double?
    /// The units of `weight` and of the height in `body`.
    public var units: Units
    /// The time of the measurement; nil means now.
    public var timeStamp: DateTime?
    /// The scale's user ID of the person; `unknownUser` if the user is unknown. Nil if the scale does not send it.
    public var userID: UInt8?
    /// The body mass index and height; nil if the scale does not send them.
    public var body: Body?

    /// The user ID of an unknown user.
    public static let unknownUser: UInt8 = 0xFF

    /// Creates a measurement, by default in SI units. Pass nil as `weight` if the measurement was unsuccessful.
    public init(
        weight: Double?, units: Units = .si, timeStamp: DateTime? = nil, userID: UInt8? = nil, body: Body? = nil
    ) {
        self.weight = weight
        self.units = units
        self.timeStamp = timeStamp
        self.userID = userID
        self.body = body
    }

    /// The weight in kilograms, regardless of `units`; nil if the measurement was unsuccessful.
    public var kilograms: Double? {
        switch units {
        case .si: weight
        case .imperial: weight.map { $0 * 0.453_592_37 }
        }
    }

    private struct Flags: OptionSet {
        var rawValue: UInt8

        static var isImperial: Self { .init(rawValue: 0x01) }
        static var timeStamp: Self { .init(rawValue: 0x02) }
        static var userID: Self { .init(rawValue: 0x04) }
        static var body: Self { .init(rawValue: 0x08) }

        /// The minimum number of octets that follow.
        var length: Int {
            2 + (contains(.timeStamp) ? DateTime.length : 0) + (contains(.userID) ? 1 : 0) + (contains(.body) ? 4 : 0)
        }
    }

    private static let unsuccessful: UInt16 = 0xFFFF

    /// Decodes the flags and the fields that they announce. Further octets are ignored.
    ///
    /// - Throws: also `.invalidValue` if the timestamp is invalid.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        let flags = Flags(rawValue: try reader.readUInt8())
        try reader.require(flags.length)
        units = flags.contains(.isImperial) ? .imperial : .si
        let weight = try reader.readUInt16()
        self.weight = weight == Self.unsuccessful ? nil : Double(weight) / units.weightsPerUnit
        timeStamp = flags.contains(.timeStamp) ? try reader.readDateTime() : nil
        userID = flags.contains(.userID) ? try reader.readUInt8() : nil
        guard flags.contains(.body) else { return }
        let massIndex = Double(try reader.readUInt16()) / 10
        body = Body(massIndex: massIndex, height: Double(try reader.readUInt16()) / units.heightsPerUnit)
    }

    /// Appends the flags, the weight, and the fields that are not nil. Values are rounded to the resolution of their
    /// fields.
    public func encode(into writer: inout ByteWriter) {
        var flags: Flags = units == .imperial ? .isImperial : []
        if timeStamp != nil { flags.insert(.timeStamp) }
        if userID != nil { flags.insert(.userID) }
        if body != nil { flags.insert(.body) }

        writer.append(flags.rawValue)
        // NaN is treated as unsuccessful.
        let known = weight.flatMap { $0.isNaN ? nil : $0 }
        let range = 0...(Self.unsuccessful - 1)
        writer.append(known.map { UInt16(nearest: $0 * units.weightsPerUnit, in: range) } ?? Self.unsuccessful)
        if let timeStamp { writer.append(timeStamp) }
        if let userID { writer.append(userID) }
        guard let body else { return }
        writer.append(UInt16(nearest: body.massIndex * 10))
        writer.append(UInt16(nearest: body.height * units.heightsPerUnit))
    }
}

extension WeightMeasurement.Units {
    /// The number of encoded units per kilogram or pound.
    fileprivate var weightsPerUnit: Double {
        switch self {
        case .si: 200
        case .imperial: 100
        }
    }

    /// The number of encoded units per metre or inch.
    fileprivate var heightsPerUnit: Double {
        switch self {
        case .si: 1000
        case .imperial: 10
        }
    }
}
