import BluetoothBase

/// LE Advertising Report (Core 5.4, Vol 4, Part E, 7.7.65.2). A view: it borrows the bytes it was decoded from, and
/// reads one report at a time.
///
/// The specification describes the event as one array per field. Controllers send the fields of one report together,
/// followed by those of the next.
public struct LEAdvertisingReports: LEEventBody, ~Escapable {
    /// The subevent code, 0x02.
    public static var subeventCode: LESubeventCode { .advertisingReport }
    /// The number of reports that remain to be read, according to the event.
    public var count: Int { @inlinable @inline(__always) get { remaining } }
    @usableFromInline var remaining: Int
    /// Whether a report could not be read, because it extends past the end of the event or has an unknown address type.
    public var isMalformed: Bool { malformed }
    @usableFromInline var malformed = false
    @usableFromInline var reader: ByteReader

    @_lifetime(copy parameters)
    init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        var reader = parameters
        remaining = Int(try reader.readUInt8())
        self.reader = reader
    }

    /// Decodes an event packet, without its H4 indicator, as `HCIEvent` does. Returns nil if the packet is another
    /// event, or if its length field is wrong. Advertising reports arrive by the thousands, and this fast path avoids
    /// the cost of the `HCIEvent` enumeration.
    @inlinable @inline(__always)
    @_lifetime(copy packet)
    public init?(event packet: Span<UInt8>) {
        guard packet.count >= 4, packet[0] == Self.code.rawValue, packet.count == 2 &+ Int(packet[1]),
            packet[2] == Self.subeventCode.rawValue
        else { return nil }
        remaining = Int(packet[3])
        reader = ByteReader(packet.extracting(droppingFirst: 4))
    }

    /// Returns the next report, or nil after the last one or if the rest can't be read.
    @inlinable @inline(__always)
    @_lifetime(copy self)
    @_lifetime(self: copy self)
    public mutating func next() -> LEAdvertisingReport? {
        guard remaining > 0 else { return nil }
        remaining &-= 1
        do {
            return try LEAdvertisingReport(decoding: &reader)
        } catch {
            malformed = true
            remaining = 0
            return nil
        }
    }

    /// Appends the reports that remain to be read.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(UInt8(truncatingIfNeeded: count))
        writer.append(reader.bytes.extracting(reader.offset..<reader.bytes.count))
    }
}

/// A report of a received legacy advertising PDU or scan response. A view: it borrows the bytes it was decoded from.
public struct LEAdvertisingReport: LEEventBody, ~Escapable {
    /// The type of the received PDU.
    public struct EventType: RawRepresentable, Hashable, Sendable {
        /// The Event_Type parameter: 0 to 4 are assigned, and all other values are reserved.
        public var rawValue: UInt8

        /// Creates a type from the event parameter. Reserved values are kept.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// ADV_IND.
        public static let connectableUndirected = EventType(rawValue: 0)
        /// ADV_DIRECT_IND.
        public static let connectableDirected = EventType(rawValue: 1)
        /// ADV_SCAN_IND.
        public static let scannableUndirected = EventType(rawValue: 2)
        /// ADV_NONCONN_IND.
        public static let nonConnectableUndirected = EventType(rawValue: 3)
        /// SCAN_RSP.
        public static let scanResponse = EventType(rawValue: 4)
    }

    /// The subevent code, 0x02.
    public static var subeventCode: LESubeventCode { .advertisingReport }
    /// The type of the PDU.
    public var eventType: EventType
    /// The advertiser's address.
    public var address: DeviceAddress
    /// The advertising data or scan response data, up to 31 octets.
    public var data: Span<UInt8>
    /// The received signal strength in dBm, -127 to 20; 127 if it is not available.
    public var rssi: Int8

    /// Creates a report that borrows `data`. Pass 127 as `rssi` if the signal strength is not available.
    @_lifetime(copy data)
    public init(eventType: EventType, address: DeviceAddress, data: Span<UInt8>, rssi: Int8) {
        self.eventType = eventType
        self.address = address
        self.data = data
        self.rssi = rssi
    }

    @inlinable @inline(__always)
    @_lifetime(copy reader)
    @_lifetime(reader: copy reader)
    init(decoding reader: inout ByteReader) throws(DecodingFailure) {
        // The fields of fixed length are checked in one step: event type, address type, address and data length.
        let fields = try reader.readBytes(9)
        guard let kind = DeviceAddress.Kind(rawValue: fields[1]) else { throw DecodingFailure(.invalidValue, at: 1) }
        eventType = EventType(rawValue: fields[0])
        let low = UInt64(fields[2]) | UInt64(fields[3]) << 8 | UInt64(fields[4]) << 16 | UInt64(fields[5]) << 24
        address = DeviceAddress(low | UInt64(fields[6]) << 32 | UInt64(fields[7]) << 40, kind: kind)
        // The RSSI follows the data.
        let length = Int(fields[8]), rest = try reader.readBytes(length &+ 1)
        data = rest.extracting(first: length)
        rssi = Int8(bitPattern: rest[length])
    }

    /// Appends the parameters of an event that contains only this report. Data beyond 31 octets is dropped.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        let data = data.extracting(first: 31)
        writer.append(UInt8(1))
        writer.append(eventType.rawValue)
        writer.appendTyped(address)
        writer.append(UInt8(truncatingIfNeeded: data.count))
        writer.append(data)
        writer.append(rssi)
    }
}
