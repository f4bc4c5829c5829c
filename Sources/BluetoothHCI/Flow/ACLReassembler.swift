import BluetoothBase

/// Reassembles the L2CAP frames of one link from ACL packets (Core 5.4, Vol 3, Part A, 7.2.2).
///
/// A frame in a single packet, the usual case, is not copied. For a fragmented frame, the buffer contains the octets
/// that have arrived, at most `maximumFrameLength`.
public struct ACLReassembler: Sendable {
    /// The result of receiving a packet.
    public enum Outcome: Equatable, Sendable {
        /// The packet's data is a complete frame.
        case frame
        /// The packet completed a frame, which `buffer` contains until the next call.
        case reassembled
        /// The frame is not complete yet.
        case incomplete
        /// The data was dropped, together with the frame to which it belongs.
        case dropped(DropReason)
    }

    /// The reason why data was dropped.
    public enum DropReason: Equatable, Sendable {
        /// A continuing fragment without a first fragment.
        case continuationWithoutStart
        /// More data than the frame's length field allows.
        case overlong
        /// The frame claims to be longer than allowed.
        case frameTooLong
        /// A first fragment without data.
        case empty
        /// A packet with flags that a controller must not send on an LE link.
        case flagsInvalid
    }

    /// The longest frame to accept, in octets, including its 4-octet header.
    public var maximumFrameLength: Int
    /// The number of dropped packets, by reason, and of frames that were interrupted by a new one.
    public private(set) var drops = Drops()
    private var partial: [UInt8] = []
    /// Whether a frame has begun and is not complete yet.
    public private(set) var isPartial = false
    /// The channel of the last dropped frame, until the next frame begins; nil if the channel is unknown.
    public private(set) var lostChannel: UInt16?

    /// Counters of dropped data.
    public struct Drops: Equatable, Sendable {
        /// Continuing fragments without a first fragment.
        public var continuationsWithoutStart: UInt64 = 0
        /// Frames with more data than their length field allows.
        public var overlong: UInt64 = 0
        /// Frames longer than allowed.
        public var framesTooLong: UInt64 = 0
        /// First fragments without data.
        public var empty: UInt64 = 0
        /// Frames that were still incomplete when the next one began.
        public var interrupted: UInt64 = 0
        /// Packets with flags that a controller must not send on an LE link.
        public var flagsInvalid: UInt64 = 0

        /// Creates counters that are all zero.
        public init() {}
    }

    /// Creates a reassembler at the beginning of a frame.
    ///
    /// - Parameter maximumFrameLength: the longest frame to accept, in octets, including its 4-octet header.
    public init(maximumFrameLength: Int) { self.maximumFrameLength = maximumFrameLength }

    /// The frame reassembled by the last call. After `incomplete`, the part of the frame that has arrived.
    public var buffer: Span<UInt8> {
        @_lifetime(borrow self)
        get { partial.span }
    }

    /// The channel of the frame that is being reassembled; nil until its header has arrived.
    public var channel: UInt16? { isPartial ? Self.channel(of: partial.span) : nil }

    /// Receives one packet of the link. A controller sends no broadcasts on an LE link (Vol 4, Part E, 5.4.2).
    public mutating func receive(_ packet: borrowing ACLDataPacket) -> Outcome {
        packet.broadcast == 0 ? receive(packet.data, boundary: packet.boundary) : drop(.flagsInvalid)
    }

    /// Receives the data of one packet. Many controllers mark first fragments with the flag that only hosts should use,
    /// so both flags are accepted. The flag that only AMP controllers used is rejected.
    public mutating func receive(_ data: Span<UInt8>, boundary: ACLDataPacket.Boundary) -> Outcome {
        switch boundary {
        case .firstNonFlushable, .firstFlushable: start(data)
        case .continuing: proceed(data)
        case .complete: drop(.flagsInvalid)
        }
    }

    /// Discards an incomplete frame. Call this when the link has ended.
    public mutating func reset() {
        lostChannel = nil
        if !partial.isEmpty { partial.removeAll(keepingCapacity: true) }
        isPartial = false
    }

    private mutating func start(_ data: Span<UInt8>) -> Outcome {
        if isPartial { drops.interrupted &+= 1 }
        reset()
        guard !data.isEmpty else { return drop(.empty) }
        if let length = frameLength(data) {
            let channel = Self.channel(of: data)
            guard length <= maximumFrameLength else { return drop(.frameTooLong, of: channel) }
            guard data.count <= length else { return drop(.overlong, of: channel) }
            if data.count == length { return .frame }
        }
        append(data)
        isPartial = true
        return .incomplete
    }

    private mutating func proceed(_ data: Span<UInt8>) -> Outcome {
        // The data continues a dropped frame, or one whose beginning was lost.
        guard isPartial else { return drop(.continuationWithoutStart, of: lostChannel) }
        var offset = 0
        while partial.count < 4, offset < data.count {
            partial.append(data[offset])
            offset += 1
        }
        guard let length = frameLength(partial.span) else { return .incomplete }
        guard length <= maximumFrameLength else { return drop(.frameTooLong, of: channel) }
        let rest = data.extracting(offset..<data.count)
        guard rest.count <= length - partial.count else { return drop(.overlong, of: channel) }
        append(rest)
        guard partial.count == length else { return .incomplete }
        isPartial = false
        return .reassembled
    }

    private mutating func append(_ data: Span<UInt8>) {
        data.withUnsafeBufferPointer { partial.append(contentsOf: $0) }
    }

    private mutating func drop(_ reason: DropReason, of channel: UInt16? = nil) -> Outcome {
        reset()
        lostChannel = channel
        switch reason {
        case .continuationWithoutStart: drops.continuationsWithoutStart &+= 1
        case .overlong: drops.overlong &+= 1
        case .frameTooLong: drops.framesTooLong &+= 1
        case .empty: drops.empty &+= 1
        case .flagsInvalid: drops.flagsInvalid &+= 1
        }
        return .dropped(reason)
    }

    /// Returns the length of the frame that begins with these bytes, including its header, or nil if the header is
    /// incomplete.
    private func frameLength(_ bytes: Span<UInt8>) -> Int? {
        bytes.count < 4 ? nil : 4 + Int(bytes[0]) + Int(bytes[1]) << 8
    }

    /// Returns the channel of the frame that begins with these bytes, or nil if the header is incomplete.
    private static func channel(of bytes: Span<UInt8>) -> UInt16? {
        bytes.count < 4 ? nil : UInt16(bytes[2]) | UInt16(bytes[3]) << 8
    }
}
