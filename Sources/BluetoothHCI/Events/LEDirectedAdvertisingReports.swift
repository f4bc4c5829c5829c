import BluetoothBase

/// LE Directed Advertising Report (Core 5.4, Vol 4, Part E, 7.7.65.11). A view: it borrows the bytes it was decoded
/// from, and reads one report at a time.
public struct LEDirectedAdvertisingReports: LEEventBody, ~Escapable {
    /// The subevent code, 0x0B.
    public static var subeventCode: LESubeventCode { .directedAdvertisingReport }
    /// The number of reports that remain to be read, according to the event.
    public private(set) var count: Int
    /// Whether a report could not be read, because it extends past the end of the event or has an unknown address type.
    public private(set) var isMalformed = false
    @usableFromInline var reader: ByteReader

    @_lifetime(copy parameters)
    init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        var reader = parameters
        count = Int(try reader.readUInt8())
        self.reader = reader
    }

    /// Returns the next report, or nil after the last one or if the rest can't be read.
    @_lifetime(self: copy self)
    public mutating func next() -> LEDirectedAdvertisingReport? {
        guard count > 0 else { return nil }
        count -= 1
        do {
            return try LEDirectedAdvertisingReport(decoding: &reader)
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

/// A report of directed advertising whose target is a resolvable private address that the controller could not resolve.
public struct LEDirectedAdvertisingReport: LEEventBody, Equatable, Sendable {
    /// The subevent code, 0x0B.
    public static var subeventCode: LESubeventCode { .directedAdvertisingReport }
    /// The type of the PDU, which is always ADV_DIRECT_IND.
    public var eventType: LEAdvertisingReport.EventType
    /// The advertiser's address.
    public var address: DeviceAddress
    /// The address of the target device.
    public var directAddress: DeviceAddress
    /// The received signal strength in dBm, -127 to 20; 127 if it is not available.
    public var rssi: Int8

    /// Creates a report of an ADV_DIRECT_IND PDU. Pass 127 as `rssi` if the signal strength is not available.
    public init(address: DeviceAddress, directAddress: DeviceAddress, rssi: Int8) {
        eventType = .connectableDirected
        self.address = address
        self.directAddress = directAddress
        self.rssi = rssi
    }

    @_lifetime(reader: copy reader)
    init(decoding reader: inout ByteReader) throws(DecodingFailure) {
        eventType = .init(rawValue: try reader.readUInt8())
        (address, directAddress, rssi) = try reader.read()
    }

    /// Appends the parameters of an event that contains only this report.
    public func encodeSubeventParameters(into writer: inout ByteWriter) {
        writer.append(parameters: UInt8(1), eventType.rawValue, address, directAddress, rssi)
    }
}
