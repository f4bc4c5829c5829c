import BluetoothBase

/// Reads a capture in pcapng format from a stream of bytes, in pieces of any size (draft-ietf-opsawg-pcapng).
///
/// A capture may have several interfaces. What is on those that are no Bluetooth controllers is skipped.
struct PcapngReader: Sendable {
    private struct Interface {
        /// Nil for what has no HCI packets.
        var link: PcapLink?
        /// The longest part of a packet that is kept; 0 for all of it.
        var snapLength = 0
        /// The unit of the time stamps, as the option if_tsresol has it: a negative power of 10, or of 2 with the upper
        /// bit.
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

    /// What the last packet came from.
    private(set) var link: PcapLink?
    /// How many packets of other kinds there were.
    private(set) var skippedCount = 0
    private let maximumPacketLength: Int
    private var buffer = CaptureBuffer()
    private var isBigEndian = false
    private var interfaces: [Interface] = []
    private var drops: UInt32 = 0

    init(maximumPacketLength: Int) { self.maximumPacketLength = maximumPacketLength }

    /// The first four octets of a capture, which read the same in both orders.
    static let magic = BlockType.section
    /// How many interfaces a section may have.
    private static let maximumInterfaces = 4096
    /// What a block may have beside a packet: comments and names, mostly.
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

    /// The length of the block that begins the rest; nil if it is not there as a whole.
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

    /// The order of octets in a block: only the beginning of a section changes it. Nil if too little of it is there.
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

    /// Reads a whole block. Returns nil if it is not a packet of a controller.
    private mutating func readBlock(
        _ length: Int, into packet: inout ByteWriter
    ) throws(DecodingFailure) -> BTSnoop.Record? {
        // Without the length, which is repeated at the end.
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
            // How many were dropped since the last one; 0xFFFF for an unknown number.
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
            // Of eight octets, the least significant count.
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

    /// An interface of this section; nil if its packets are skipped.
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

    /// A time stamp in microseconds.
    static func microseconds(_ ticks: UInt64, _ resolution: UInt8) -> Int64 {
        let power = Int(resolution & 0x7F)
        let scaled = UInt128(ticks) * 1_000_000
        if resolution & 0x80 != 0 { return Int64(clamping: scaled >> power) }
        // Nothing ticks that fast.
        guard power <= 30 else { return 0 }
        var divisor: UInt128 = 1
        for _ in 0..<power { divisor *= 10 }
        return Int64(clamping: scaled / divisor)
    }
}

extension ByteReader {
    /// Skips what fills a field of a length up to a multiple of four octets.
    @_lifetime(self: copy self)
    fileprivate mutating func skipPadding(_ length: Int) throws(DecodingFailure) {
        _ = try readBytes(min(-length & 3, remaining))
    }
}
