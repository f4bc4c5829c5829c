import BluetoothLE
import BluetoothPlatform
import HCITransport
import Synchronization

/// A calendar time in the notation for programs (ISO 8601, UTC, with milliseconds).
public struct Timestamp: Hashable, Sendable {
    /// Negative before 1970.
    public var millisecondsSince1970: Int64

    /// Creates a time from the milliseconds since the start of 1970, UTC; negative for earlier times.
    public init(millisecondsSince1970: Int64) { self.millisecondsSince1970 = millisecondsSince1970 }

    /// The current time.
    public static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(millisecondsSince1970: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Converts the time of an adapter's event, which is that of the monotonic clock. A later event never gets an
    /// earlier time, unless the time of day was set back in between.
    public init(_ instant: Instant) {
        let before = MonotonicClock.now, wall = Self.nanosecondsSince1970, after = MonotonicClock.now
        let nanoseconds = Self.calendar.withLock { $0.time(of: instant, wall, between: before, and: after) }
        self.init(millisecondsSince1970: nanoseconds.flooringDivision(by: 1_000_000).quotient)
    }

    private static let calendar = Mutex(CalendarTime())

    private static var nanosecondsSince1970: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// The difference between the time of day and the monotonic clock.
///
/// The clocks are read one after the other, and the thread may be delayed in between. So the difference is kept until
/// it changes by more than such a delay can explain, which means that the time of day was set.
struct CalendarTime {
    /// In nanoseconds; nil until the clocks are first read.
    private var lead: Int64?

    /// The smallest step that is more than a correction of the clock's rate, in nanoseconds.
    static let smallestStep: Int64 = 250_000_000
    /// The time within which both clocks must be read, in nanoseconds.
    static let longestReading: Int64 = 10_000_000

    /// The time of day at an instant, in nanoseconds since 1970.
    ///
    /// - Parameters:
    ///   - wall: the current time of day, in the same unit.
    ///   - before: the earliest time at which it was read.
    ///   - after: the latest time at which it was read.
    mutating func time(of instant: Instant, _ wall: Int64, between before: Instant, and after: Instant) -> Int64 {
        let measured = wall - Int64(clamping: after.nanoseconds)
        let isPrecise = before.duration(to: after).nanoseconds <= Self.longestReading
        let lead =
            if let lead = self.lead, !isPrecise || abs(measured - lead) < Self.smallestStep { lead } else { measured }
        self.lead = lead
        return lead + Int64(clamping: instant.nanoseconds)
    }
}

extension Timestamp: CustomStringConvertible {
    /// The time in ISO 8601, such as `2026-11-22T12:35:49.123Z`.
    public var description: String { String(decoding: iso8601, as: UTF8.self) }

    /// The text of `description`, in ASCII. Times before the year 0 or after the year 9999 are limited to those years.
    public var iso8601: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(24)
        write(to: &text)
        return text
    }

    /// Appends the text of `description`, in ASCII.
    public func write(to text: inout [UInt8]) {
        let year0: Int64 = -62_167_219_200_000, year10000: Int64 = 253_402_300_800_000
        let milliseconds = min(max(millisecondsSince1970, year0), year10000 - 1)
        let (days, rest) = milliseconds.flooringDivision(by: 86_400_000)
        let (year, month, day) = Self.date(daysSince1970: Int(days))
        let time = Int(rest)
        let start = text.count
        text.append(contentsOf: "0000-00-00T00:00:00.000Z".utf8)
        text.overwrite(with: year, before: start + 4)
        text.overwrite(with: month, before: start + 7)
        text.overwrite(with: day, before: start + 10)
        text.overwrite(with: time / 3_600_000, before: start + 13)
        text.overwrite(with: time / 60_000 % 60, before: start + 16)
        text.overwrite(with: time / 1000 % 60, before: start + 19)
        text.overwrite(with: time % 1000, before: start + 23)
    }

    /// The Gregorian date of a day. Years are counted from March, so that a leap day is the last day of its year, and
    /// in cycles of 400 years, which all have the same length.
    private static func date(daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
        // Days since March 1 of the year 0.
        let days = daysSince1970 + 719_468
        let (cycle, dayOfCycle) = days.flooringDivision(by: 146_097)
        let yearOfCycle = (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfCycle + 400 * cycle + (month <= 2 ? 1 : 0), month, day)
    }
}

extension FixedWidthInteger {
    /// The quotient, rounded down, and the remainder, which is not negative.
    fileprivate func flooringDivision(by divisor: Self) -> (quotient: Self, remainder: Self) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension [UInt8] {
    /// Writes a number over the zeros before `end`.
    fileprivate mutating func overwrite(with number: Int, before end: Int) {
        var rest = number, index = end
        while rest > 0 {
            index -= 1
            self[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }
}
