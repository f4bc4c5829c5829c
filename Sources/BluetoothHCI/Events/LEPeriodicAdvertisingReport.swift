import BluetoothBase

/// LE Periodic Advertising Report [v1] or [v2]: received periodic advertising data, or a fragment of it (Core 5.4, Vol
/// 4, Part E, 7.7.65.15). A view: it borrows the bytes it was decoded from.
public struct LEPeriodicAdvertisingReport: LEEventBody, ~Escapable {
    /// The fields that only version [v2] contains.
    public struct Subevent: Hashable, Sendable {
        /// The counter of the periodic advertising event.
        public var eventCounter: UInt16
        /// The subevent, 0x00 to 0x7F; 0xFF for periodic advertising without responses.
        public var number: UInt8

        /// Creates the fields that only version [v2] contains.
        public init(eventCounter: UInt16, number: UInt8) {
            self.eventCounter = eventCounter
            self.number = number
        }
    }

    /// The code of version [v1]. If `subevent` is not nil, the event is version [v2].
    public static var subeventCode: LESubeventCode { .periodicAdvertisingReport }
    /// The periodic advertising train that the controller is synchronized to.
    public var syncHandle: SyncHandle
    /// The transmit power in dBm, -127 to 20; 127 if it is not available.
    public var transmitPower: Int8 = 127
    /// The received signal strength in dBm, -127 to 20; 127 if it is not available.
    public var rssi: Int8
    /// The type of the Constant Tone Extension; 0xFF for none.
    public var cteType: UInt8 = 0xFF
    /// The event and subevent of the data; nil in version [v1].
    public var subevent: Subevent?
    /// Whether more data follows. In version [v2], 0xFF means that no packet was received.
    public var dataStatus: UInt8
    /// The data in this report, up to 247 octets.
    public var data: Span<UInt8>

    /// Creates a report that borrows `data`: version [v2] if `subevent` is not nil, otherwise version [v1].
    @_lifetime(copy data)
    public init(syncHandle: SyncHandle, rssi: Int8, subevent: Subevent? = nil, dataStatus: UInt8, data: Span<UInt8>) {
        self.syncHandle = syncHandle
        self.rssi = rssi
        self.subevent = subevent
        self.dataStatus = dataStatus
        self.data = data
    }

    @_lifetime(copy parameters)
    init(decoding parameters: consuming ByteReader, hasSubevent: Bool) throws(DecodingFailure) {
        var reader = parameters
        syncHandle = SyncHandle(rawValue: try reader.readUInt16())
        transmitPower = try reader.readInt8()
        rssi = try reader.readInt8()
        cteType = try reader.readUInt8()
        if hasSubevent {
            let counter = try reader.readUInt16()
            subevent = Subevent(eventCounter: counter, number: try reader.readUInt8())
        } else {
            subevent = nil
        }
        dataStatus = try reader.readUInt8()
        data = try reader.readBytes(Int(try reader.readUInt8()))
    }

    /// Appends the subevent code of version [v1] or [v2] and the parameters after it.
    public func encodeParameters(into writer: inout ByteWriter) {
        let code: LESubeventCode = subevent == nil ? .periodicAdvertisingReport : .periodicAdvertisingReportV2
        writer.append(code.rawValue)
        encodeSubeventParameters(into: &writer)
    }

    /// Appends the parameters after the subevent code. Data beyond 247 octets is dropped.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        let data = data.extracting(first: 247)
        writer.append(parameters: syncHandle, transmitPower, rssi, cteType)
        if let subevent { writer.append(parameters: subevent.eventCounter, subevent.number) }
        writer.append(parameters: dataStatus, UInt8(truncatingIfNeeded: data.count))
        writer.append(data)
    }
}

/// LE Periodic Advertising Response Report: the responses received in the response slots of a subevent (Core 5.4, Vol
/// 4, Part E, 7.7.65.37). A view: it borrows the bytes it was decoded from, and reads one response at a time.
public struct LEPeriodicAdvertisingResponseReports: LEEventBody, ~Escapable {
    /// The subevent code, 0x28.
    public static var subeventCode: LESubeventCode { .periodicAdvertisingResponseReport }

    /// A response, or a fragment of it.
    public struct Response: ~Escapable {
        /// The transmit power in dBm, -127 to 20; 127 if it is not available.
        public var transmitPower: Int8
        /// The received signal strength in dBm, -127 to 20; 127 if it is not available.
        public var rssi: Int8
        /// The type of the Constant Tone Extension; 0xFF for none.
        public var cteType: UInt8
        /// The response slot.
        public var slot: UInt8
        /// Whether more data follows; 0xFF means that no response was received.
        public var dataStatus: UInt8
        /// The data in this event.
        public var data: Span<UInt8>

        @_lifetime(copy reader)
        @_lifetime(reader: copy reader)
        init(decoding reader: inout ByteReader) throws(DecodingFailure) {
            transmitPower = try reader.readInt8()
            rssi = try reader.readInt8()
            cteType = try reader.readUInt8()
            slot = try reader.readUInt8()
            dataStatus = try reader.readUInt8()
            data = try reader.readBytes(Int(try reader.readUInt8()))
        }
    }

    /// The advertising set.
    public let advertisingHandle: AdvertisingHandle
    /// The subevent.
    public let subevent: UInt8
    /// Whether the controller transmitted in the subevent: 0 if it did.
    public let transmitStatus: UInt8
    /// The number of responses that remain to be read, according to the event.
    public private(set) var count: Int
    /// Whether a response could not be read, because it extends past the end of the event.
    public private(set) var isMalformed = false
    var reader: ByteReader

    @_lifetime(copy parameters)
    init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        var reader = parameters
        advertisingHandle = try reader.read()
        subevent = try reader.readUInt8()
        transmitStatus = try reader.readUInt8()
        count = Int(try reader.readUInt8())
        self.reader = reader
    }

    /// Returns the next response, or nil after the last one or if the rest can't be read.
    @_lifetime(copy self)
    @_lifetime(self: copy self)
    public mutating func next() -> Response? {
        guard count > 0 else { return nil }
        count -= 1
        do {
            return try Response(decoding: &reader)
        } catch {
            isMalformed = true
            count = 0
            return nil
        }
    }

    /// Appends the responses that remain to be read.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(
            parameters: advertisingHandle, subevent, transmitStatus, UInt8(truncatingIfNeeded: count))
        writer.append(reader.bytes.extracting(reader.offset..<reader.bytes.count))
    }
}
