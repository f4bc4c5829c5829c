import BluetoothBase

/// CSC Measurement, 0x2A5B: the data that a cycling speed and cadence sensor sends, about once a second.
///
/// A measurement contains counters. Compute speed and cadence from two measurements with `speed(since:circumference:)`
/// and `cadence(since:)`.
public struct CSCMeasurement: CharacteristicValue, Hashable {
    /// The characteristic's UUID, 0x2A5B.
    public static var uuid: BluetoothUUID { .init(0x2A5B) }

    /// The revolutions of the wheel.
    public struct Wheel: Hashable, Sendable {
        /// The total number of wheel revolutions. It decreases if the bicycle is rolled backwards.
        public var cumulativeRevolutions: UInt32
        /// The time of the last revolution, in 1/1024 s. It wraps around every 64 s.
        public var lastEventTime: UInt16

        /// Creates wheel data from the counter and the time of its last increment, in 1/1024 s.
        public init(cumulativeRevolutions: UInt32, lastEventTime: UInt16) {
            self.cumulativeRevolutions = cumulativeRevolutions
            self.lastEventTime = lastEventTime
        }
    }

    /// The revolutions of the crank.
    public struct Crank: Hashable, Sendable {
        /// The total number of crank revolutions. It wraps around after 65535.
        public var cumulativeRevolutions: UInt16
        /// The time of the last revolution, in 1/1024 s. It wraps around every 64 s.
        public var lastEventTime: UInt16

        /// Creates crank data from the counter and the time of its last increment, in 1/1024 s.
        public init(cumulativeRevolutions: UInt16, lastEventTime: UInt16) {
            self.cumulativeRevolutions = cumulativeRevolutions
            self.lastEventTime = lastEventTime
        }
    }

    /// The wheel data; nil if the sensor does not measure the wheel.
    public var wheel: Wheel?
    /// The crank data; nil if the sensor does not measure the crank.
    public var crank: Crank?

    /// Creates a measurement. Nil means that the sensor does not measure the wheel or the crank.
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

    /// Decodes the flags and the fields that they announce. Octets after these fields are ignored.
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

    /// Appends the flags, the wheel data and the crank data, without the parts that are nil.
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

/// The counters and event times wrap around. Differences are correct as long as the last events of the two measurements
/// are less than 64 s apart.
extension CSCMeasurement {
    /// Returns the speed of the bicycle since an earlier measurement, in metres per second. It is negative if the
    /// bicycle was rolled backwards or the counter was set.
    ///
    /// The result is 0 if the wheel did not turn in between. At low speed this is the case for some measurements, so a
    /// display should keep its value for a few seconds. The result is nil if either measurement lacks wheel data, or if
    /// the wheel has turned but the time of its last revolution is unchanged.
    ///
    /// - Parameter circumference: the circumference of the wheel in metres, about 2.1 for a road bicycle.
    public func speed(since earlier: CSCMeasurement, circumference: Double) -> Double? {
        guard let wheel, let before = earlier.wheel else { return nil }
        let turns = Int32(bitPattern: wheel.cumulativeRevolutions &- before.cumulativeRevolutions)
        return rate(of: turns, from: before.lastEventTime, to: wheel.lastEventTime).map { $0 * circumference }
    }

    /// Returns the cadence since an earlier measurement, in revolutions per minute.
    ///
    /// The result is 0 or nil in the same cases as for `speed(since:circumference:)`.
    public func cadence(since earlier: CSCMeasurement) -> Double? {
        guard let crank, let before = earlier.crank else { return nil }
        let turns = Int32(crank.cumulativeRevolutions &- before.cumulativeRevolutions)
        return rate(of: turns, from: before.lastEventTime, to: crank.lastEventTime).map { $0 * 60 }
    }

    /// Returns the rate in revolutions per second.
    private func rate(of turns: Int32, from start: UInt16, to end: UInt16) -> Double? {
        guard turns != 0 else { return 0 }
        guard start != end else { return nil }
        return Double(turns) * 1024 / Double(end &- start)
    }
}
