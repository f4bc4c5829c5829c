import BluetoothBase

/// Reads a capture in the format of libpcap from a stream of bytes, in pieces of any size
/// (draft-ietf-opsawg-pcap).
struct PcapReader: Sendable {
    private(set) var link: PcapLink?
    private let maximumPacketLength: Int
    private var buffer = CaptureBuffer()
    private var isBigEndian = false
    /// The resolution of the timestamps in ticks per second: one million or one billion.
    private var ticksPerSecond: Int64 = 1_000_000

    init(maximumPacketLength: Int) { self.maximumPacketLength = maximumPacketLength }

    /// The first four octets of a capture, as a little-endian number.
    static let magics: [UInt32] = [0xA1B2_C3D4, 0xD4C3_B2A1, 0xA1B2_3C4D, 0x4D3C_B2A1]
    private static let headerLength = 24
    private static let recordHeaderLength = 16
    /// The maximum length of the prefix that a link type adds to a packet.
    private static let maximumPrefix = 4

    var isAtRecordBoundary: Bool { buffer.isEmpty }

    mutating func append(_ piece: Span<UInt8>) { buffer.append(piece) }

    mutating func next(into packet: inout ByteWriter) throws(DecodingFailure) -> BTSnoop.Record? {
        do {
            guard let link = try readHeader(), let (record, length) = try parseRecord(link, into: &packet) else {
                return nil
            }
            buffer.advance(by: length)
            return record
        } catch {
            throw buffer.failure(error)
        }
    }

    private mutating func readHeader() throws(DecodingFailure) -> PcapLink? {
        if let link { return link }
        guard let header = try Self.header(buffer.rest) else { return nil }
        (isBigEndian, ticksPerSecond) = (header.isBigEndian, header.ticksPerSecond)
        link = header.link
        buffer.advance(by: Self.headerLength)
        return link
    }

    /// Decodes the header. Returns nil if it is not complete yet.
    private static func header(
        _ bytes: Span<UInt8>
    ) throws(DecodingFailure) -> (isBigEndian: Bool, ticksPerSecond: Int64, link: PcapLink)? {
        guard bytes.count >= headerLength else { return nil }
        var reader = ByteReader(bytes)
        let magic = try reader.readUInt32()
        let isBigEndian = magic == 0xD4C3_B2A1 || magic == 0x4D3C_B2A1
        let isInNanoseconds = magic == 0xA1B2_3C4D || magic == 0x4D3C_B2A1
        // Skip the version and unused fields.
        reader.offset = 20
        // The upper bits describe frame check sequences, which HCI doesn't use.
        let code = UInt16(truncatingIfNeeded: try reader.readUInt32(isBigEndian: isBigEndian))
        guard let link = PcapLink(rawValue: code) else { throw DecodingFailure(.unknownCode(code), at: 20) }
        return (isBigEndian, isInNanoseconds ? 1_000_000_000 : 1_000_000, link)
    }

    /// Reads the record at the start of the unread octets. Also returns its length in octets.
    private func parseRecord(
        _ link: PcapLink, into packet: inout ByteWriter
    ) throws(DecodingFailure) -> (BTSnoop.Record, length: Int)? {
        let rest = buffer.rest
        guard rest.count >= Self.recordHeaderLength else { return nil }
        var reader = ByteReader(rest)
        let seconds = Int64(try reader.readUInt32(isBigEndian: isBigEndian))
        let ticks = Int64(try reader.readUInt32(isBigEndian: isBigEndian))
        let length = Int(try reader.readUInt32(isBigEndian: isBigEndian))
        let originalLength = Int(try reader.readUInt32(isBigEndian: isBigEndian))
        guard length <= originalLength, length <= maximumPacketLength + Self.maximumPrefix else {
            throw DecodingFailure(.invalidLength, at: 8)
        }
        guard reader.remaining >= length else { return nil }
        let data = try reader.readBytes(length)
        let record = try link.record(
            data, originalLength: originalLength, direction: nil,
            microsecondsSince1970: seconds * 1_000_000 + ticks / (ticksPerSecond / 1_000_000), into: &packet)
        return (record, Self.recordHeaderLength + length)
    }
}

extension ByteReader {
    @_lifetime(self: copy self)
    mutating func readUInt16(isBigEndian: Bool) throws(DecodingFailure) -> UInt16 {
        let number = try readUInt16()
        return isBigEndian ? number.byteSwapped : number
    }

    @_lifetime(self: copy self)
    mutating func readUInt32(isBigEndian: Bool) throws(DecodingFailure) -> UInt32 {
        let number = try readUInt32()
        return isBigEndian ? number.byteSwapped : number
    }
}
