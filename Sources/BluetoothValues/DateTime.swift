import BluetoothBase

/// A date and a time of day, which several values contain (GATT Specification Supplement, Date Time).
///
/// It is the local time of the device, without a time zone. Use Foundation's `DateComponents` to convert it to a
/// `Date`.
public struct DateTime: Hashable, Sendable {
    /// 1582 to 9999; nil if unknown.
    public var year: UInt16?
    /// 1 to 12; nil if unknown.
    public var month: UInt8?
    /// 1 to 31; nil if unknown.
    public var day: UInt8?
    /// 0 to 23.
    public var hours: UInt8
    /// 0 to 59.
    public var minutes: UInt8
    /// 0 to 59.
    public var seconds: UInt8

    /// Creates a date and a time, by default midnight. Values outside the range of a field are clamped when they are
    /// encoded.
    public init(
        year: UInt16?, month: UInt8?, day: UInt8?, hours: UInt8 = 0, minutes: UInt8 = 0, seconds: UInt8 = 0
    ) {
        self.year = year
        self.month = month
        self.day = day
        self.hours = hours
        self.minutes = minutes
        self.seconds = seconds
    }

    /// The length of an encoded value in octets.
    static let length = 7
}

extension ByteReader {
    @_lifetime(self: copy self)
    mutating func readDateTime() throws(DecodingFailure) -> DateTime {
        try require(DateTime.length)
        let start = offset
        let year = try readUInt16()
        guard year == 0 || (1582...9999).contains(year) else { throw DecodingFailure(.invalidValue, at: start) }
        let month = try readUInt8(atMost: 12), day = try readUInt8(atMost: 31)
        return DateTime(
            year: year == 0 ? nil : year, month: month == 0 ? nil : month, day: day == 0 ? nil : day,
            hours: try readUInt8(atMost: 23), minutes: try readUInt8(atMost: 59), seconds: try readUInt8(atMost: 59))
    }

    /// - Throws: `.invalidValue` above `maximum`.
    @_lifetime(self: copy self)
    mutating func readUInt8(atMost maximum: UInt8) throws(DecodingFailure) -> UInt8 {
        let value = try readUInt8()
        guard value <= maximum else { throw DecodingFailure(.invalidValue, at: offset - 1) }
        return value
    }
}

extension ByteWriter {
    mutating func append(_ time: DateTime) {
        append(time.year.map { min(max($0, 1582), 9999) } ?? 0)
        append(min(time.month ?? 0, 12))
        append(min(time.day ?? 0, 31))
        append(min(time.hours, 23))
        append(min(time.minutes, 59))
        append(min(time.seconds, 59))
    }
}
