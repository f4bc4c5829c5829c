import BluetoothBase

/// LE Advertising Report (Core 5.4, Vol 4, Part E, 7.7.65.2). A view: it borrows the bytes it was decoded from, and
/// reads one report at a time.
///
/// The specification describes the event as one array for each field; controllers send the fields of one report
/// together, then those of the next.
public struct LEAdvertisingReports: LEEventBody, ~Escapable {
    public static var subeventCode: LESubeventCode { .advertisingReport }
    /// How many reports remain to be read, according to the event.
    public private(set) var count: Int
    /// Whether a report could not be read because it runs past the end of the event or has an unknown address type.
    public private(set) var isMalformed = false
    @usableFromInline var reader: ByteReader

    @_lifetime(copy parameters)
    init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        var reader = parameters
        count = Int(try reader.readUInt8())
        self.reader = reader
    }

    /// Decodes an event packet without its H4 indicator, as `HCIEvent` does; nil if it is not such an event, or not as long as
    /// it says. Reports come by the thousand, and do without that enumeration of everything.
    @_lifetime(copy packet)
    public init?(event packet: Span<UInt8>) {
        guard packet.count >= 4, packet[0] == Self.code.rawValue, packet.count == 2 &+ Int(packet[1]),
            packet[2] == Self.subeventCode.rawValue
        else { return nil }
        count = Int(packet[3])
        reader = ByteReader(packet.extracting(droppingFirst: 4))
    }

    /// The next report; nil after the last one, or if the rest cannot be read.
    @_lifetime(copy self)
    @_lifetime(self: copy self)
    public mutating func next() -> LEAdvertisingReport? {
        guard count > 0 else { return nil }
        count -= 1
        do {
            return try LEAdvertisingReport(decoding: &reader)
        } catch {
            isMalformed = true
            count = 0
            return nil
        }
    }

    /// Appends the reports that remain to be read.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(UInt8(truncatingIfNeeded: count))
        writer.append(reader.bytes.extracting(reader.offset..<reader.bytes.count))
    }
}

/// What a scanner received from a legacy advertiser. A view: it borrows the bytes it was decoded from.
public struct LEAdvertisingReport: LEEventBody, ~Escapable {
    /// Which PDU was received.
    public struct EventType: RawRepresentable, Hashable, Sendable {
        public var rawValue: UInt8
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

    public static var subeventCode: LESubeventCode { .advertisingReport }
    /// The kind of PDU.
    public var eventType: EventType
    /// The advertiser's address.
    public var address: DeviceAddress
    /// The advertising data or scan response data, up to 31 octets.
    public var data: Span<UInt8>
    /// The received signal strength in dBm, -127 to 20; 127 if it is not available.
    public var rssi: Int8

    @_lifetime(copy data)
    public init(eventType: EventType, address: DeviceAddress, data: Span<UInt8>, rssi: Int8) {
        self.eventType = eventType
        self.address = address
        self.data = data
        self.rssi = rssi
    }

    @inline(__always)
    @_lifetime(copy reader)
    @_lifetime(reader: copy reader)
    init(decoding reader: inout ByteReader) throws(DecodingFailure) {
        // What has a fixed length is checked in one step: type, address with its type, length of the data.
        let fields = try reader.readBytes(9)
        guard let kind = DeviceAddress.Kind(rawValue: fields[1]) else { throw DecodingFailure(.invalidValue, at: 1) }
        eventType = EventType(rawValue: fields[0])
        let low = UInt64(fields[2]) | UInt64(fields[3]) << 8 | UInt64(fields[4]) << 16 | UInt64(fields[5]) << 24
        address = DeviceAddress(low | UInt64(fields[6]) << 32 | UInt64(fields[7]) << 40, kind: kind)
        data = try reader.readBytes(Int(fields[8]))
        rssi = try reader.readInt8()
    }

    /// Appends the parameters of an event with this one report. Data beyond 31 octets is dropped.
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
