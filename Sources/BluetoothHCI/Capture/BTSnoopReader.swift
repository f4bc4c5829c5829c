import BluetoothBase

/// Reads a capture in btsnoop format from a stream of bytes, in pieces of any size.
///
/// Add a piece with `append`, take the complete records with `next`, then add the next piece. Used this way, the reader
/// buffers at most one record.
public struct BTSnoopReader: Sendable {
    /// The format of the capture's packets; nil until the header has been read.
    public private(set) var datalink: BTSnoop.Datalink?
    /// The longest packet to accept. If a record claims a longer one, reading fails, even if few of its bytes are
    /// present.
    public let maximumPacketLength: Int
    private var buffer = CaptureBuffer()

    /// Creates a reader at the beginning of a capture.
    ///
    /// - Parameter maximumPacketLength: the longest packet to accept, including its indicator. The default is the
    ///   longest ACL packet.
    public init(maximumPacketLength: Int = 0x1_0004) { self.maximumPacketLength = maximumPacketLength }

    /// Adds the next piece of the capture.
    public mutating func append(_ piece: Span<UInt8>) { buffer.append(piece) }

    /// Whether all bytes have been read. False at the end of the capture means that its last record is incomplete.
    public var isAtRecordBoundary: Bool { buffer.isEmpty }

    /// Reads the next record and writes its packet to `packet`, starting with the H4 indicator.
    ///
    /// A monitor record that is not a packet has no type, and its data is written unchanged.
    /// - Parameter packet: replaced with the packet's bytes.
    /// - Returns: nil if the next record is not complete yet.
    /// - Throws: if the bytes are not a capture that this reader supports. The error contains their offset in the
    ///   capture. Every later call throws the same error.
    public mutating func next(into packet: inout ByteWriter) throws(DecodingFailure) -> BTSnoop.Record? {
        do {
            guard let datalink = try readHeader() else { return nil }
            guard let (record, length) = try parseRecord(datalink, into: &packet) else { return nil }
            buffer.advance(by: length)
            return record
        } catch {
            throw buffer.failure(error)
        }
    }

    private mutating func readHeader() throws(DecodingFailure) -> BTSnoop.Datalink? {
        if let datalink { return datalink }
        guard let found = try Self.datalink(of: buffer.rest) else { return nil }
        datalink = found
        buffer.advance(by: BTSnoop.headerLength)
        return found
    }

    /// Decodes the header. Returns nil if it is not complete yet.
    private static func datalink(of bytes: Span<UInt8>) throws(DecodingFailure) -> BTSnoop.Datalink? {
        guard bytes.count >= BTSnoop.headerLength else { return nil }
        var reader = ByteReader(bytes)
        for index in BTSnoop.identification.indices
        where try reader.readUInt8() != BTSnoop.identification[index] {
            throw DecodingFailure(.invalidValue, at: index)
        }
        guard try reader.readUInt32().byteSwapped == BTSnoop.version else {
            throw DecodingFailure(.invalidValue, at: 8)
        }
        let code = try reader.readUInt32().byteSwapped
        guard let datalink = BTSnoop.Datalink(rawValue: code) else {
            throw DecodingFailure(.unknownCode(UInt16(clamping: code)), at: 12)
        }
        return datalink
    }

    /// Reads the record at the start of the unread octets. Also returns its length in octets.
    private func parseRecord(
        _ datalink: BTSnoop.Datalink, into packet: inout ByteWriter
    ) throws(DecodingFailure) -> (BTSnoop.Record, length: Int)? {
        let rest = buffer.rest
        guard rest.count >= BTSnoop.recordHeaderLength else { return nil }
        var reader = ByteReader(rest)
        let originalLength = Int(try reader.readUInt32().byteSwapped)
        let length = Int(try reader.readUInt32().byteSwapped)
        guard length <= originalLength, length <= maximumPacketLength else {
            throw DecodingFailure(.invalidLength, at: 4)
        }
        let flags = try reader.readUInt32().byteSwapped
        let cumulativeDrops = try reader.readUInt32().byteSwapped
        let time = Int64(bitPattern: try reader.readUInt64().byteSwapped)
        guard reader.remaining >= length else { return nil }
        let data = try reader.readBytes(length)
        let (direction, type) = Self.kind(datalink, flags, data)
        packet.removeAll()
        if datalink != .h4, let type { packet.append(type.rawValue) }
        packet.append(data)
        var record = BTSnoop.Record(
            direction: direction, type: type, originalLength: originalLength, cumulativeDrops: cumulativeDrops,
            microsecondsSince1970: time &- BTSnoop.microsecondsAt1970)
        if datalink == .monitor {
            let index = UInt16(truncatingIfNeeded: flags >> 16)
            record.adapter = index == BTSnoop.noAdapter ? nil : index
            record.monitorOpcode = Self.monitorOpcode(flags)
        }
        return (record, BTSnoop.recordHeaderLength + length)
    }

    private static func kind(
        _ datalink: BTSnoop.Datalink, _ flags: UInt32, _ data: Span<UInt8>
    ) -> (BTSnoop.Direction, HCIPacketType?) {
        let direction: BTSnoop.Direction = flags & 1 == 0 ? .sent : .received
        switch datalink {
        case .h4: return (direction, data.isEmpty ? nil : HCIPacketType(rawValue: data[0]))
        case .hci where flags & 2 == 0: return (direction, .aclData)
        case .hci: return (direction, direction == .sent ? .command : .event)
        case .monitor:
            guard let packet = monitorOpcode(flags).packet else { return (.received, nil) }
            return (packet.direction, packet.type)
        }
    }

    private static func monitorOpcode(_ flags: UInt32) -> BTSnoop.MonitorOpcode {
        BTSnoop.MonitorOpcode(rawValue: UInt16(truncatingIfNeeded: flags))
    }
}
