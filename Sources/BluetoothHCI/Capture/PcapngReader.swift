import BluetoothBase

/// Reads a capture in pcapng format from a stream of bytes, in pieces of any size (draft-ietf-opsawg-pcapng).
///
/// A capture may have several interfaces. Packets of interfaces that are not Bluetooth controllers are skipped.
struct PcapngReader: Sendable {
    private struct Interface {
        /// The link type; nil if the interface does not carry HCI packets.
        var link: PcapLink?
        /// The maximum number of octets captured of each packet; 0 for no limit.
        var snapLength = 0
        /// The unit of the timestamps, as in the if_tsresol option: a negative power of 10, or of 2 if the most
        /// significant bit is set.
        var resolution: UInt8 = 6
    }

    private enum BlockType {
        static let section: UInt32 = 0x0A0D_0D0A
        static let interface: UInt32 = 1
        static let packet: UInt32 = 2
        static let simplePacket: UInt32 = 3
        static let enhancedPacket: UInt32 = 6
    }

    private enum Option {
        static let end: UInt16 = 0
        static let flags: UInt16 = 2
        static let drops: UInt16 = 4
        static let resolution: UInt16 = 9
    }

    /// The link type of the last packet.
    private(set) var link: PcapLink?
    /// The number of packets skipped because their interface does not carry HCI packets.
    private(set) var skippedCount = 0
    private let maximumPacketLength: Int
    private var buffer = CaptureBuffer()
    private var isBigEndian = false
    private var interfaces: [Interface] = []
    private var drops: UInt32 = 0

    init(maximumPacketLength: Int) { self.maximumPacketLength = maximumPacketLength }

    /// The first four octets of a capture. They are the same in both byte orders.
    static let magic = BlockType.section
    /// The maximum number of interfaces in a section.
    private static let maximumInterfaces = 4096
    /// The maximum number of octets that a block may have in addition to a packet, mostly for comments and names.
    private static let maximumOverhead = 1 << 20

    var isAtRecordBoundary: Bool { buffer.isEmpty }

    mutating func append(_ piece: Span<UInt8>) { buffer.append(piece) }

    mutating func next(into packet: inout ByteWriter) throws(DecodingFailure) -> BTSnoop.Record? {
        do {
            while let length = try blockLength() {
                let record = try readBlock(length, into: &packet)
                buffer.advance(by: length)
                if let record { return record }
            }
            return nil
        } catch {
            throw buffer.failure(error)
        }
    }

    /// Returns the length of the block at the start of the unread octets, or nil if the block is not complete yet.
    private mutating func blockLength() throws(DecodingFailure) -> Int? {
        guard let isBigEndian = try Self.order(buffer.rest, or: isBigEndian) else { return nil }
        self.isBigEndian = isBigEndian
        let rest = buffer.rest
        var reader = ByteReader(rest)
        reader.offset = 4
        let length = Int(try reader.readUInt32(isBigEndian: isBigEndian))
        guard length >= 12, length % 4 == 0, length <= maximumPacketLength + Self.maximumOverhead else {
            throw DecodingFailure(.invalidLength, at: 4)
        }
        return rest.count >= length ? length : nil
    }

    /// Returns whether a block is big-endian, or nil if too little of the block has arrived. Only a section header
    /// changes the byte order.
    private static func order(_ bytes: Span<UInt8>, or current: Bool) throws(DecodingFailure) -> Bool? {
        guard bytes.count >= 12 else { return nil }
        var reader = ByteReader(bytes)
        guard try reader.readUInt32() == BlockType.section else { return current }
        reader.offset = 8
        switch try reader.readUInt32() {
        case 0x1A2B_3C4D: return false
        case 0x4D3C_2B1A: return true
        default: throw DecodingFailure(.invalidValue, at: 8)
        }
    }

    /// Reads a complete block. Returns nil if it is not a packet of a controller.
    private mutating func readBlock(
        _ length: Int, into packet: inout ByteWriter
    ) throws(DecodingFailure) -> BTSnoop.Record? {
        // Without the length, which is repeated at the end of the block.
        let block = Array(buffer.rest.extracting(0..<(length - 4)))
        var reader = ByteReader(block.span)
        let type = try reader.readUInt32(isBigEndian: isBigEndian)
        reader.offset = 8
        switch type {
        case BlockType.section:
            interfaces = []
            return nil
        case BlockType.interface:
            try addInterface(&reader)
            return nil
        case BlockType.enhancedPacket, BlockType.packet: return try readPacket(&reader, type, into: &packet)
        case BlockType.simplePacket: return try readSimplePacket(&reader, into: &packet)
        default: return nil
        }
    }

    private mutating func addInterface(_ reader: inout ByteReader) throws(DecodingFailure) {
        guard interfaces.count < Self.maximumInterfaces else { throw DecodingFailure(.invalidValue, at: 0) }
        var interface = Interface(link: PcapLink(rawValue: try reader.readUInt16(isBigEndian: isBigEndian)))
        _ = try reader.readUInt16()
        interface.snapLength = Int(try reader.readUInt32(isBigEndian: isBigEndian))
        try readOptions(&reader) { code, value in
            if code == Option.resolution, value.count == 1 { interface.resolution = value[0] }
        }
        interfaces.append(interface)
    }

    private mutating func readPacket(
        _ reader: inout ByteReader, _ type: UInt32, into packet: inout ByteWriter
    ) throws(DecodingFailure) -> BTSnoop.Record? {
        let number: Int
        if type == BlockType.packet {
            number = Int(try reader.readUInt16(isBigEndian: isBigEndian))
            // The number of packets dropped since the last one; 0xFFFF if unknown.
            let dropped = try reader.readUInt16(isBigEndian: isBigEndian)
            if dropped != 0xFFFF { drops &+= UInt32(dropped) }
        } else {
            number = Int(try reader.readUInt32(isBigEndian: isBigEndian))
        }
        let high = try reader.readUInt32(isBigEndian: isBigEndian)
        let low = try reader.readUInt32(isBigEndian: isBigEndian)
        let length = Int(try reader.readUInt32(isBigEndian: isBigEndian))
        let originalLength = Int(try reader.readUInt32(isBigEndian: isBigEndian))
        guard length <= originalLength else { throw DecodingFailure(.invalidLength, at: 20) }
        let data = try reader.readBytes(length)
        try reader.skipPadding(length)
        var direction: BTSnoop.Direction?
        let isBigEndian = isBigEndian
        var dropped: UInt32 = 0
        try readOptions(&reader) { code, value in
            if code == Option.flags, value.count == 4 {
                switch value[isBigEndian ? 3 : 0] & 3 {
                case 1: direction = .received
                case 2: direction = .sent
                default: break
                }
            }
            // Only the four least significant of the eight octets are used.
            if code == Option.drops, value.count == 8 {
                for index in 0..<4 { dropped |= UInt32(value[isBigEndian ? 7 - index : index]) << (8 * index) }
            }
        }
        drops &+= dropped
        guard let interface = try interface(number) else { return nil }
        return try interface.link?.record(
            data, originalLength: originalLength, direction: direction,
            microsecondsSince1970: Self.microseconds(UInt64(high) << 32 | UInt64(low), interface.resolution),
            drops: drops, into: &packet)
    }

    private mutating func readSimplePacket(
        _ reader: inout ByteReader, into packet: inout ByteWriter
    ) throws(DecodingFailure) -> BTSnoop.Record? {
        let originalLength = Int(try reader.readUInt32(isBigEndian: isBigEndian))
        guard let interface = try interface(0) else { return nil }
        let kept = interface.snapLength == 0 ? originalLength : min(originalLength, interface.snapLength)
        let data = try reader.readBytes(min(kept, reader.remaining))
        return try interface.link?.record(
            data, originalLength: originalLength, direction: nil, microsecondsSince1970: 0, drops: drops, into: &packet)
    }

    /// Returns an interface of this section, or nil if its packets are skipped.
    private mutating func interface(_ number: Int) throws(DecodingFailure) -> Interface? {
        guard interfaces.indices.contains(number) else { throw DecodingFailure(.invalidValue, at: 8) }
        guard let link = interfaces[number].link else {
            skippedCount += 1
            return nil
        }
        self.link = link
        return interfaces[number]
    }

    private func readOptions(
        _ reader: inout ByteReader, _ body: (_ code: UInt16, _ value: Span<UInt8>) -> Void
    ) throws(DecodingFailure) {
        while reader.remaining >= 4 {
            let code = try reader.readUInt16(isBigEndian: isBigEndian)
            let length = Int(try reader.readUInt16(isBigEndian: isBigEndian))
            if code == Option.end { return }
            body(code, try reader.readBytes(length))
            try reader.skipPadding(length)
        }
    }

    /// Converts a timestamp to microseconds.
    static func microseconds(_ ticks: UInt64, _ resolution: UInt8) -> Int64 {
        let power = Int(resolution & 0x7F)
        let scaled = UInt128(ticks) * 1_000_000
        if resolution & 0x80 != 0 { return Int64(clamping: scaled >> power) }
        // No real clock has such a high resolution.
        guard power <= 30 else { return 0 }
        var divisor: UInt128 = 1
        for _ in 0..<power { divisor *= 10 }
        return Int64(clamping: scaled / divisor)
    }
}

extension ByteReader {
    /// Skips the padding of a field to a multiple of four octets.
    @_lifetime(self: copy self)
    fileprivate mutating func skipPadding(_ length: Int) throws(DecodingFailure) {
        _ = try readBytes(min(-length & 3, remaining))
    }
}
