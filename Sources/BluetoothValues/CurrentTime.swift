import BluetoothBase

/// Current Time, 0x2A2B: the time, and why the clock was last adjusted.
public struct CurrentTime: CharacteristicValue, Hashable {
    public static var uuid: BluetoothUUID { .init(0x2A2B) }

    public enum DayOfWeek: UInt8, CaseIterable, Hashable, Sendable {
        case unknown, monday, tuesday, wednesday, thursday, friday, saturday, sunday
    }

    /// Why the clock was adjusted.
    public struct AdjustReason: OptionSet, Hashable, Sendable {
        public var rawValue: UInt8

        public init(rawValue: UInt8) { self.rawValue = rawValue }

        public static let manualTimeUpdate = Self(rawValue: 0x01)
        public static let externalReferenceTimeUpdate = Self(rawValue: 0x02)
        public static let changeOfTimeZone = Self(rawValue: 0x04)
        public static let changeOfDaylightSavingTime = Self(rawValue: 0x08)

        static let all = Self(rawValue: 0x0F)
    }

    public var dateTime: DateTime
    public var dayOfWeek: DayOfWeek
    /// The fraction of the second, in 1/256 s.
    public var fractions256: UInt8
    public var adjustReason: AdjustReason

    public init(
        dateTime: DateTime, dayOfWeek: DayOfWeek = .unknown, fractions256: UInt8 = 0, adjustReason: AdjustReason = []
    ) {
        self.dateTime = dateTime
        self.dayOfWeek = dayOfWeek
        self.fractions256 = fractions256
        self.adjustReason = adjustReason
    }

    /// - Throws: also `.invalidValue` if the date, the time or the day of the week is invalid.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        try reader.require(DateTime.length + 3)
        dateTime = try reader.readDateTime()
        guard let day = DayOfWeek(rawValue: try reader.readUInt8()) else {
            throw DecodingFailure(.invalidValue, at: reader.offset - 1)
        }
        dayOfWeek = day
        fractions256 = try reader.readUInt8()
        adjustReason = AdjustReason(rawValue: try reader.readUInt8()).intersection(.all)
        try reader.finish()
    }

    public func encode(into writer: inout ByteWriter) {
        writer.append(dateTime)
        writer.append(dayOfWeek.rawValue)
        writer.append(fractions256)
        writer.append(adjustReason.intersection(.all).rawValue)
    }
}
