import BluetoothBase

/// CSC Measurement, 0x2A5B: what a cycling speed and cadence sensor sends, about once a second.
///
/// It contains counters. Speed and cadence are computed from two measurements: `speed(since:circumference:)` and
/// `cadence(since:)`.
public struct CSCMeasurement: CharacteristicValue, Hashable {
    public static var uuid: BluetoothUUID { .init(0x2A5B) }

    /// The turns of the wheel.
    public struct Wheel: Hashable, Sendable {
        /// How many times it has turned; less than before if it was rolled backwards.
        public var cumulativeRevolutions: UInt32
        /// The time of the last turn, in 1/1024 s; wraps around every 64 s.
        public var lastEventTime: UInt16

        public init(cumulativeRevolutions: UInt32, lastEventTime: UInt16) {
            self.cumulativeRevolutions = cumulativeRevolutions
            self.lastEventTime = lastEventTime
        }
    }

    /// The turns of the crank.
    public struct Crank: Hashable, Sendable {
        /// How many times it has turned; wraps around after 65535.
        public var cumulativeRevolutions: UInt16
        /// The time of the last turn, in 1/1024 s; wraps around every 64 s.
        public var lastEventTime: UInt16

        public init(cumulativeRevolutions: UInt16, lastEventTime: UInt16) {
            self.cumulativeRevolutions = cumulativeRevolutions
            self.lastEventTime = lastEventTime
        }
    }

    /// Nil if the sensor is not at the wheel.
    public var wheel: Wheel?
    /// Nil if the sensor is not at the crank.
    public var crank: Crank?

    public init(wheel: Wheel? = nil, crank: Crank? = nil) {
        self.wheel = wheel
        self.crank = crank
    }

    private struct Flags: OptionSet {
        var rawValue: UInt8

        static var wheel: Self { .init(rawValue: 0x01) }
        static var crank: Self { .init(rawValue: 0x02) }

        /// The minimum number of octets that follow.
        var length: Int { (contains(.wheel) ? 6 : 0) + (contains(.crank) ? 4 : 0) }
    }

    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        let flags = Flags(rawValue: try reader.readUInt8())
        try reader.require(flags.length)
        if flags.contains(.wheel) {
            let revolutions = try reader.readUInt32()
            wheel = Wheel(cumulativeRevolutions: revolutions, lastEventTime: try reader.readUInt16())
        }
        if flags.contains(.crank) {
            let revolutions = try reader.readUInt16()
            crank = Crank(cumulativeRevolutions: revolutions, lastEventTime: try reader.readUInt16())
        }
    }

    public func encode(into writer: inout ByteWriter) {
        var flags: Flags = []
        if wheel != nil { flags.insert(.wheel) }
        if crank != nil { flags.insert(.crank) }

        writer.append(flags.rawValue)
        if let wheel {
            writer.append(wheel.cumulativeRevolutions)
            writer.append(wheel.lastEventTime)
        }
        if let crank {
            writer.append(crank.cumulativeRevolutions)
            writer.append(crank.lastEventTime)
        }
    }
}

// MARK: - Speed and cadence

/// The counters and the event times wrap around, so differences are correct as long as the last events of two
/// measurements are less than 64 seconds apart.
extension CSCMeasurement {
    /// How fast the bicycle went since an earlier measurement, in metres per second; negative if it was rolled
    /// backwards or the counter was set.
    ///
    /// It is 0 if the wheel did not turn in between. At low speed that is the case in some of the measurements: a
    /// display should then keep its value for a few seconds. Nil if either measurement lacks the wheel, or if the wheel
    /// has turned but the time of its last turn is the same.
    ///
    /// - Parameter circumference: the circumference of the wheel in metres: about 2.1 for a road bicycle.
    public func speed(since earlier: CSCMeasurement, circumference: Double) -> Double? {
        guard let wheel, let before = earlier.wheel else { return nil }
        let turns = Int32(bitPattern: wheel.cumulativeRevolutions &- before.cumulativeRevolutions)
        return rate(of: turns, from: before.lastEventTime, to: wheel.lastEventTime).map { $0 * circumference }
    }

    /// How fast the crank turned since an earlier measurement, in revolutions per minute.
    ///
    /// It is 0 and nil in the same cases as `speed(since:circumference:)`.
    public func cadence(since earlier: CSCMeasurement) -> Double? {
        guard let crank, let before = earlier.crank else { return nil }
        let turns = Int32(crank.cumulativeRevolutions &- before.cumulativeRevolutions)
        return rate(of: turns, from: before.lastEventTime, to: crank.lastEventTime).map { $0 * 60 }
    }

    /// The rate in turns per second.
    private func rate(of turns: Int32, from start: UInt16, to end: UInt16) -> Double? {
        guard turns != 0 else { return 0 }
        guard start != end else { return nil }
        return Double(turns) * 1024 / Double(end &- start)
    }
}
