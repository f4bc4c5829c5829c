import BluetoothBase

/// LE Extended Advertising Report (Core 5.4, Vol 4, Part E, 7.7.65.13). A view: it borrows the bytes it was decoded
/// from, and reads one report at a time.
///
/// The specification describes the event as one array per field. Controllers send the fields of one report together,
/// followed by those of the next.
public struct LEExtendedAdvertisingReports: LEEventBody, ~Escapable {
    /// The subevent code, 0x0D.
    public static var subeventCode: LESubeventCode { .extendedAdvertisingReport }
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
    @_lifetime(copy self)
    @_lifetime(self: copy self)
    public mutating func next() -> LEExtendedAdvertisingReport? {
        guard count > 0 else { return nil }
        count -= 1
        do {
            return try LEExtendedAdvertisingReport(decoding: &reader)
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
