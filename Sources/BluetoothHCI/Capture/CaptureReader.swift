import BluetoothBase

/// Reads a capture from a stream of bytes, in pieces of any size: btsnoop, pcap or pcapng, whichever it begins as.
///
/// It buffers at most one record: add a piece with `append`, take the complete records with `next`, then add the next
/// piece.
public struct CaptureReader: Sendable {
    /// The longest packet to accept. A longer one fails the capture, however few of its bytes are there.
    public let maximumPacketLength: Int
    /// The first octets, as long as they are too few to tell the format.
    private var head: [UInt8] = []
    private var btsnoop: BTSnoopReader?
    private var pcap: PcapReader?
    private var pcapng: PcapngReader?

    /// - Parameter maximumPacketLength: the longest packet to accept, indicator included. The default is the longest
    ///   ACL packet.
    public init(maximumPacketLength: Int = 0x1_0004) { self.maximumPacketLength = maximumPacketLength }

    /// The format of the last packet; nil before the capture's header has been read.
    public var datalink: BTSnoop.Datalink? { btsnoop?.datalink ?? (pcap?.link ?? pcapng?.link)?.datalink }

    /// Whether all bytes have been read. False at the end of the capture means that its last record is incomplete.
    public var isAtRecordBoundary: Bool {
        head.isEmpty && btsnoop?.isAtRecordBoundary ?? true && pcap?.isAtRecordBoundary ?? true
            && pcapng?.isAtRecordBoundary ?? true
    }

    /// How many packets were skipped because they are not of a Bluetooth controller.
    public var skippedCount: Int { pcapng?.skippedCount ?? 0 }

    /// Adds the next piece of the capture.
    public mutating func append(_ piece: Span<UInt8>) {
        if btsnoop != nil || pcap != nil || pcapng != nil { return pass(piece) }
        piece.withUnsafeBufferPointer { head.append(contentsOf: $0) }
        guard head.count >= 4 else { return }
        let magic = (0..<4).reduce(0 as UInt32) { $0 | UInt32(head[$1]) << (8 * $1) }
        if PcapReader.magics.contains(magic) {
            pcap = PcapReader(maximumPacketLength: maximumPacketLength)
        } else if magic == PcapngReader.magic {
            pcapng = PcapngReader(maximumPacketLength: maximumPacketLength)
        } else {
            // It says what is wrong with anything else.
            btsnoop = BTSnoopReader(maximumPacketLength: maximumPacketLength)
        }
        let first = head
        head = []
        pass(first.span)
    }

    private mutating func pass(_ piece: Span<UInt8>) {
        btsnoop?.append(piece)
        pcap?.append(piece)
        pcapng?.append(piece)
    }

    /// Reads the next record, and writes its packet, H4 indicator first, to `packet`.
    ///
    /// A record of the monitor that is not a packet has no type, and its data is written unchanged.
    /// - Parameter packet: replaced with the packet's bytes.
    /// - Returns: nil if the next record is not complete yet.
    /// - Throws: if the bytes are not a capture this reader supports, with their offset in the capture. Every later
    ///   call throws the same error.
    public mutating func next(into packet: inout ByteWriter) throws(DecodingFailure) -> BTSnoop.Record? {
        if let record = try btsnoop?.next(into: &packet) { return record }
        if let record = try pcap?.next(into: &packet) { return record }
        return try pcapng?.next(into: &packet)
    }
}
