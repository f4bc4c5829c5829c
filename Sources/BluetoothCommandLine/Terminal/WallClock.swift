import BluetoothLE
import BluetoothPlatform
import HCITransport

/// A time of day in the calendar, as programs write it (ISO 8601, UTC, to the millisecond).
public struct Timestamp: Hashable, Sendable {
    /// Negative before 1970.
    public var millisecondsSince1970: Int64

    public init(millisecondsSince1970: Int64) { self.millisecondsSince1970 = millisecondsSince1970 }

    /// Now.
    public static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(millisecondsSince1970: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// When an event happened that an adapter, whose clock is the monotonic one, reports with its time.
    public init(_ instant: Instant) {
        let ago = instant.duration(to: MonotonicClock.now).nanoseconds / 1_000_000
        self.init(millisecondsSince1970: Self.now.millisecondsSince1970 - ago)
    }
}

extension Timestamp: CustomStringConvertible {
    /// `2026-11-22T12:35:49.123Z`.
    public var description: String { String(decoding: iso8601, as: UTF8.self) }

    /// The same, in ASCII. Years before 0 and after 9999 are shown as these.
    public var iso8601: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(24)
        write(to: &text)
        return text
    }

    /// Appends the same, in ASCII.
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

    /// The Gregorian date of a day. Years are counted from March, so that a leap day is the last of one, and in cycles of
    /// 400 years, which are all equally long.
    private static func date(daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
        // From the first of March of the year 0.
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
