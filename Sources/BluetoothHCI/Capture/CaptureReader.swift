import BluetoothBase

/// Reads a capture from a stream of bytes, in pieces of any size. It detects the format: btsnoop, pcap or pcapng.
///
/// Add a piece with `append`, take the complete records with `next`, then add the next piece. Used this way, the reader
/// buffers at most one record.
public struct CaptureReader: Sendable {
    /// The longest packet to accept. If a record claims a longer one, reading fails, even if few of its bytes are
    /// present.
    public let maximumPacketLength: Int
    /// The first octets, until there are enough to detect the format.
    private var head: [UInt8] = []
    private var btsnoop: BTSnoopReader?
    private var pcap: PcapReader?
    private var pcapng: PcapngReader?

    /// Creates a reader at the beginning of a capture.
    ///
    /// - Parameter maximumPacketLength: the longest packet to accept, including its indicator. The default is the
    ///   longest ACL packet.
    public init(maximumPacketLength: Int = 0x1_0004) { self.maximumPacketLength = maximumPacketLength }

    /// The format of the last packet; nil before the capture's header has been read.
    public var datalink: BTSnoop.Datalink? { btsnoop?.datalink ?? (pcap?.link ?? pcapng?.link)?.datalink }

    /// Whether all bytes have been read. False at the end of the capture means that its last record is incomplete.
    public var isAtRecordBoundary: Bool {
        head.isEmpty && btsnoop?.isAtRecordBoundary ?? true && pcap?.isAtRecordBoundary ?? true
            && pcapng?.isAtRecordBoundary ?? true
    }

    /// The number of packets that were skipped because they are not from a Bluetooth controller.
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
            // For an unknown format, the btsnoop reader reports the error.
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

    /// Reads the next record and writes its packet to `packet`, starting with the H4 indicator.
    ///
    /// A monitor record that is not a packet has no type, and its data is written unchanged.
    /// - Parameter packet: replaced with the packet's bytes.
    /// - Returns: nil if the next record is not complete yet.
    /// - Throws: if the bytes are not a capture that this reader supports. The error contains their offset in the
    ///   capture. Every later call throws the same error.
    public mutating func next(into packet: inout ByteWriter) throws(DecodingFailure) -> BTSnoop.Record? {
        if let record = try btsnoop?.next(into: &packet) { return record }
        if let record = try pcap?.next(into: &packet) { return record }
        return try pcapng?.next(into: &packet)
    }
}
