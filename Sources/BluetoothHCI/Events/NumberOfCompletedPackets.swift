import BluetoothBase

/// Number Of Completed Packets (Core 5.4, Vol 4, Part E, 7.7.19): reports buffers that the controller has freed. A
/// view: it borrows the bytes it was decoded from, and reads the count of one link at a time.
public struct NumberOfCompletedPackets: HCIEventBody, ~Escapable {
    /// The event code, 0x13.
    public static var code: HCIEventCode { .numberOfCompletedPackets }
    /// The number of counts that remain to be read, according to the event.
    public private(set) var count: Int
    /// Whether the event contains fewer counts than it claims. It is set when `next()` reaches the end of the event.
    public private(set) var isTruncated = false
    @usableFromInline var reader: ByteReader

    @_lifetime(copy parameters)
    init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        var reader = parameters
        count = Int(try reader.readUInt8())
        self.reader = reader
    }

    /// Decodes an event packet, without its H4 indicator, as `HCIEvent` does. Returns nil if the packet is another
    /// event, or if its length field is wrong. Like `LEAdvertisingReports`, this avoids the cost of the enumeration.
    @_lifetime(copy packet)
    public init?(event packet: Span<UInt8>) {
        guard packet.count >= 3, packet[0] == Self.code.rawValue, packet.count == 2 &+ Int(packet[1]) else {
            return nil
        }
        count = Int(packet[2])
        reader = ByteReader(packet.extracting(droppingFirst: 3))
    }

    /// Returns the count of the next link, or nil after the last one or if the list is truncated.
    @_lifetime(self: copy self)
    public mutating func next() -> CompletedPackets? {
        guard count > 0 else { return nil }
        guard let handle = try? reader.readUInt16(), let completed = try? reader.readUInt16() else {
            isTruncated = true
            count = 0
            return nil
        }
        count -= 1
        return CompletedPackets(connectionHandle: ConnectionHandle(handle), count: completed)
    }

    /// Appends the counts that remain to be read.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(UInt8(truncatingIfNeeded: count))
        writer.append(reader.bytes.extracting(reader.offset..<reader.bytes.count))
    }

    /// Appends the event for up to 63 links, starting with its H4 indicator.
    public static func encodePacket(_ links: Span<CompletedPackets>, into writer: inout ByteWriter) {
        let count = min(links.count, 63)
        writer.append(HCIPacketType.event.rawValue)
        writer.append(code.rawValue)
        writer.append(UInt8(truncatingIfNeeded: 1 + 4 * count))
        writer.append(UInt8(truncatingIfNeeded: count))
        for index in 0..<count { links[index].encode(into: &writer) }
    }
}
