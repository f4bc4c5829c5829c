import BluetoothBase

/// Heart Rate Measurement, 0x2A37: the data that a heart rate sensor sends, about once a second.
public struct HeartRateMeasurement: CharacteristicValue, Hashable {
    /// The characteristic's UUID, 0x2A37.
    public static var uuid: BluetoothUUID { .init(0x2A37) }

    /// Whether the sensor touches the skin.
    public enum SensorContact: Hashable, Sendable {
        /// The sensor can't detect contact.
        case notSupported
        case notDetected
        case detected
    }

    /// The heart rate in beats per minute.
    public var heartRate: UInt16
    /// Whether the sensor touches the skin, if it can detect that.
    public var sensorContact: SensorContact
    /// The energy expended since the last reset, in kilojoules. Sensors send it only occasionally, and stop counting at
    /// 65535.
    public var energyExpended: UInt16?
    /// The times between successive beats, oldest first, with a resolution of 1/1024 s.
    public var rrIntervals: [Duration]

    /// Creates a measurement. By default, the sensor can't detect contact and sends only the heart rate.
    public init(
        heartRate: UInt16, sensorContact: SensorContact = .notSupported, energyExpended: UInt16? = nil,
        rrIntervals: [Duration] = []
    ) {
        self.heartRate = heartRate
        self.sensorContact = sensorContact
        self.energyExpended = energyExpended
        self.rrIntervals = rrIntervals
    }

    private struct Flags: OptionSet {
        var rawValue: UInt8

        static var isRate16Bit: Self { .init(rawValue: 0x01) }
        static var contactDetected: Self { .init(rawValue: 0x02) }
        static var contactSupported: Self { .init(rawValue: 0x04) }
        static var energyExpended: Self { .init(rawValue: 0x08) }
        static var rrIntervals: Self { .init(rawValue: 0x10) }

        /// The minimum number of octets that follow.
        var length: Int {
            (contains(.isRate16Bit) ? 2 : 1) + (contains(.energyExpended) ? 2 : 0) + (contains(.rrIntervals) ? 2 : 0)
        }
    }

    /// Decodes the flags and the fields that they announce.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        let flags = Flags(rawValue: try reader.readUInt8())
        try reader.require(flags.length)
        heartRate = flags.contains(.isRate16Bit) ? try reader.readUInt16() : UInt16(try reader.readUInt8())
        // Without the feature, the contact bit is meaningless.
        sensorContact =
            switch (flags.contains(.contactSupported), flags.contains(.contactDetected)) {
            case (false, _): .notSupported
            case (true, false): .notDetected
            case (true, true): .detected
            }
        energyExpended = flags.contains(.energyExpended) ? try reader.readUInt16() : nil
        rrIntervals = []
        guard flags.contains(.rrIntervals) else { return }
        rrIntervals.reserveCapacity(reader.remaining / 2)
        while reader.remaining > 0 { rrIntervals.append(Duration(ticks: try reader.readUInt16())) }
    }

    /// Appends the measurement. The heart rate takes one octet if it is below 256, otherwise two.
    public func encode(into writer: inout ByteWriter) {
        var flags: Flags = []
        if heartRate > UInt8.max { flags.insert(.isRate16Bit) }
        switch sensorContact {
        case .notSupported: break
        case .notDetected: flags.insert(.contactSupported)
        case .detected: flags.formUnion([.contactSupported, .contactDetected])
        }
        if energyExpended != nil { flags.insert(.energyExpended) }
        if !rrIntervals.isEmpty { flags.insert(.rrIntervals) }

        writer.append(flags.rawValue)
        if let heartRate = UInt8(exactly: heartRate) { writer.append(heartRate) } else { writer.append(heartRate) }
        if let energyExpended { writer.append(energyExpended) }
        for interval in rrIntervals { writer.append(interval.ticks) }
    }
}
