import BluetoothBase

/// What a scanner received from an advertiser, or one piece of it (Core 5.4, Vol 4, Part E, 7.7.65.13). A view: it
/// borrows the bytes it was decoded from.
public struct LEExtendedAdvertisingReport: LEEventBody, ~Escapable {
    public static var subeventCode: LESubeventCode { .extendedAdvertisingReport }
    public var eventType: EventType
    /// nil for an advertiser that is anonymous.
    public var address: DeviceAddress?
    public var primaryPHY = LEPHY.le1M
    /// `none` where nothing was sent on a secondary channel.
    public var secondaryPHY = LEPHY.none
    /// The advertising set's SID; 0xFF where there is none.
    public var advertisingSID: UInt8 = 0xFF
    /// In dBm, -127 to 20; 127 where it is not available.
    public var transmitPower: Int8 = 127
    /// In dBm, -127 to 20; 127 where it is not available.
    public var rssi: Int8
    /// The interval of periodic advertising; zero where there is none.
    public var periodicAdvertisingInterval = ConnectionInterval(rawValue: 0)
    /// Whom directed advertising calls; zero where `eventType` is not directed.
    public var directAddress = DirectAddress.none
    public var data: Span<UInt8>

    @_lifetime(copy data)
    public init(eventType: EventType, address: DeviceAddress?, rssi: Int8, data: Span<UInt8>) {
        self.eventType = eventType
        self.address = address
        self.rssi = rssi
        self.data = data
    }

    @_lifetime(copy reader)
    @_lifetime(reader: copy reader)
    init(decoding reader: inout ByteReader) throws(DecodingFailure) {
        eventType = EventType(rawValue: try reader.readUInt16())
        address = try DeviceAddress?(decoding: &reader)
        primaryPHY = LEPHY(rawValue: try reader.readUInt8())
        secondaryPHY = LEPHY(rawValue: try reader.readUInt8())
        advertisingSID = try reader.readUInt8()
        transmitPower = try reader.readInt8()
        rssi = try reader.readInt8()
        periodicAdvertisingInterval = ConnectionInterval(rawValue: try reader.readUInt16())
        directAddress = DirectAddress(type: try reader.readUInt8(), value: try reader.readLittleEndian(byteCount: 6))
        data = try reader.readBytes(Int(try reader.readUInt8()))
    }

    /// Appends the parameters of an event with this one report. Data beyond 229 octets is left out.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        let data = data.extracting(first: 229)
        writer.append(UInt8(1))
        writer.append(eventType.rawValue)
        address.encode(into: &writer)
        writer.append(primaryPHY.rawValue)
        writer.append(secondaryPHY.rawValue)
        writer.append(advertisingSID)
        writer.append(transmitPower)
        writer.append(rssi)
        writer.append(periodicAdvertisingInterval.rawValue)
        writer.append(directAddress.type)
        writer.append(directAddress.value, byteCount: 6)
        writer.append(UInt8(truncatingIfNeeded: data.count))
        writer.append(data)
    }
}

extension LEExtendedAdvertisingReport {
    /// What was received, and whether the data is all there.
    public struct EventType: OptionSet, Hashable, Sendable {
        public var rawValue: UInt16

        @inlinable
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        public static let connectable = EventType(rawValue: 1 << 0)
        public static let scannable = EventType(rawValue: 1 << 1)
        public static let directed = EventType(rawValue: 1 << 2)
        public static let scanResponse = EventType(rawValue: 1 << 3)
        /// Legacy PDUs.
        public static let legacy = EventType(rawValue: 1 << 4)
    }

    /// Whether more of an advertiser's data follows in other reports.
    public enum DataStatus: UInt8, Sendable {
        case complete = 0
        case incompleteMoreToCome = 1
        /// The controller could not receive or keep the rest.
        case incompleteTruncated = 2
        case reserved = 3
    }

    /// The target of directed advertising. Kept as it came, because its type has a value no other address has: 0xFE, a
    /// resolvable private address the controller could not resolve.
    public struct DirectAddress: Hashable, Sendable {
        public var type: UInt8
        public var value: UInt64

        @inlinable
        public init(type: UInt8, value: UInt64) {
            self.type = type
            self.value = value
        }

        public static let none = DirectAddress(type: 0, value: 0)

        /// The address; nil where its type does not exist.
        public var address: DeviceAddress? {
            DeviceAddress.Kind(rawValue: type == 0xFE ? 1 : type).map { DeviceAddress(value, kind: $0) }
        }
    }
}

extension LEExtendedAdvertisingReport.EventType {
    /// Bits 5 and 6.
    @inlinable
    public var dataStatus: LEExtendedAdvertisingReport.DataStatus {
        get { .init(rawValue: UInt8(truncatingIfNeeded: rawValue >> 5 & 3)) ?? .reserved }
        set { rawValue = rawValue & ~0x60 | UInt16(newValue.rawValue) << 5 }
    }
}
