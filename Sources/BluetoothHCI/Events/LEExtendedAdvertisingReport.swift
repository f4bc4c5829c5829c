import BluetoothBase

/// A report of received advertising data or scan response data, or of a fragment of it (Core 5.4, Vol 4, Part E,
/// 7.7.65.13). A view: it borrows the bytes it was decoded from.
public struct LEExtendedAdvertisingReport: LEEventBody, ~Escapable {
    /// The subevent code, 0x0D.
    public static var subeventCode: LESubeventCode { .extendedAdvertisingReport }
    /// The properties of the PDU, and whether the data is complete.
    public var eventType: EventType
    /// The advertiser's address; nil if it is anonymous.
    public var address: DeviceAddress?
    /// The PHY of the primary advertising channel: LE 1M or LE Coded.
    public var primaryPHY = LEPHY.le1M
    /// The PHY of the secondary advertising channel; `none` if no PDU was received on one.
    public var secondaryPHY = LEPHY.none
    /// The set's Advertising SID, 0x00 to 0x0F; 0xFF if the PDU has none.
    public var advertisingSID: UInt8 = 0xFF
    /// The advertiser's transmit power in dBm, -127 to 20; 127 if it is not available.
    public var transmitPower: Int8 = 127
    /// The received signal strength in dBm, -127 to 20; 127 if it is not available.
    public var rssi: Int8
    /// The periodic advertising interval, in units of 1.25 ms; zero without periodic advertising.
    public var periodicAdvertisingInterval = ConnectionInterval(rawValue: 0)
    /// The target of directed advertising; zero if `eventType` is not directed.
    public var directAddress = DirectAddress.none
    /// The data in this report, up to 229 octets.
    public var data: Span<UInt8>

    /// Creates a report that borrows `data`. The other properties have the values of a PDU on LE 1M without extended
    /// fields.
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

    /// Appends the parameters of an event that contains only this report. Data beyond 229 octets is dropped.
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
    /// The properties of the received PDU, and the data status.
    public struct EventType: OptionSet, Hashable, Sendable {
        /// The Event_Type parameter: the properties in bits 0 to 4 and the data status in bits 5 and 6.
        public var rawValue: UInt16

        /// Creates a set from the event parameter. Reserved bits are kept.
        @inlinable
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// The advertiser accepts connections.
        public static let connectable = EventType(rawValue: 1 << 0)
        /// The advertiser responds to scan requests.
        public static let scannable = EventType(rawValue: 1 << 1)
        /// The advertising is directed to one device.
        public static let directed = EventType(rawValue: 1 << 2)
        /// The PDU is a scan response.
        public static let scanResponse = EventType(rawValue: 1 << 3)
        /// The PDU is a legacy PDU.
        public static let legacy = EventType(rawValue: 1 << 4)
    }

    /// Whether more of an advertiser's data follows in other reports.
    public enum DataStatus: UInt8, Sendable {
        /// The data is complete.
        case complete = 0
        /// More data follows in another report.
        case incompleteMoreToCome = 1
        /// The controller could not receive or store the rest.
        case incompleteTruncated = 2
        /// Reserved for future use.
        case reserved = 3
    }

    /// The target of directed advertising. It is kept unchanged because its type may have a value that other addresses
    /// can't have: 0xFE, for a resolvable private address that the controller could not resolve.
    public struct DirectAddress: Hashable, Sendable {
        /// The address type: 0x00 to 0x03 as in other reports, or 0xFE for a resolvable private address that was not
        /// resolved.
        public var type: UInt8
        /// The 48 bits of the address.
        public var value: UInt64

        /// Creates a target from its address type and the 48 bits of its address.
        @inlinable
        public init(type: UInt8, value: UInt64) {
            self.type = type
            self.value = value
        }

        /// No target.
        public static let none = DirectAddress(type: 0, value: 0)

        /// The address; nil if its type is invalid.
        public var address: DeviceAddress? {
            DeviceAddress.Kind(rawValue: type == 0xFE ? 1 : type).map { DeviceAddress(value, kind: $0) }
        }
    }
}

extension LEExtendedAdvertisingReport.EventType {
    /// The data status, in bits 5 and 6.
    @inlinable
    public var dataStatus: LEExtendedAdvertisingReport.DataStatus {
        get { .init(rawValue: UInt8(truncatingIfNeeded: rawValue >> 5 & 3)) ?? .reserved }
        set { rawValue = rawValue & ~0x60 | UInt16(newValue.rawValue) << 5 }
    }
}
