import BluetoothBase

/// Current Time, 0x2A2B: the time, and the reason for the last adjustment of the clock.
public struct CurrentTime: CharacteristicValue, Hashable {
    /// The characteristic's UUID, 0x2A2B.
    public static var uuid: BluetoothUUID { .init(0x2A2B) }

    /// A day of the week. The raw values are those of the specification: 0 means unknown, 1 Monday and 7 Sunday.
    public enum DayOfWeek: UInt8, CaseIterable, Hashable, Sendable {
        case unknown, monday, tuesday, wednesday, thursday, friday, saturday, sunday
    }

    /// The reasons for an adjustment of the clock.
    public struct AdjustReason: OptionSet, Hashable, Sendable {
        /// The reasons as bits. Bits 4 to 7 are reserved for future use.
        public var rawValue: UInt8

        /// Creates a set of reasons from its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A person has set the clock.
        public static let manualTimeUpdate = Self(rawValue: 0x01)
        /// The clock was adjusted to an external time reference.
        public static let externalReferenceTimeUpdate = Self(rawValue: 0x02)
        /// The time zone has changed.
        public static let changeOfTimeZone = Self(rawValue: 0x04)
        /// Daylight saving time has started or ended.
        public static let changeOfDaylightSavingTime = Self(rawValue: 0x08)

        static let all = Self(rawValue: 0x0F)
    }

    /// The local date and time, to the second.
    public var dateTime: DateTime
    /// The day of the week. It is not derived from `dateTime`, and may contradict it.
    public var dayOfWeek: DayOfWeek
    /// The fraction of the second, in 1/256 s.
    public var fractions256: UInt8
    /// The reasons for the last adjustment. Empty if the device states none.
    public var adjustReason: AdjustReason

    /// Creates a time. By default, the day of the week is unknown and no reason for an adjustment is given.
    public init(
        dateTime: DateTime, dayOfWeek: DayOfWeek = .unknown, fractions256: UInt8 = 0, adjustReason: AdjustReason = []
    ) {
        self.dateTime = dateTime
        self.dayOfWeek = dayOfWeek
        self.fractions256 = fractions256
        self.adjustReason = adjustReason
    }

    /// Decodes exactly ten octets. Reserved adjust reasons are cleared.
    ///
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

    /// Appends ten octets, with the reserved bits of `adjustReason` cleared.
    public func encode(into writer: inout ByteWriter) {
        writer.append(dateTime)
        writer.append(dayOfWeek.rawValue)
        writer.append(fractions256)
        writer.append(adjustReason.intersection(.all).rawValue)
    }
}
