import BluetoothBase

/// Puts the L2CAP frames of one link together from the pieces ACL packets carry (Core 5.4, Vol 3, Part A, 7.2.2).
///
/// A frame that lies whole in one packet, as most do, is not copied. Of a longer one the buffer holds what has arrived,
/// never more than `maximumFrameLength` octets.
public struct ACLReassembler: Sendable {
    /// What a packet came to.
    public enum Outcome: Equatable, Sendable {
        /// The packet's data is a whole frame.
        case frame
        /// The packet completed a frame, which `buffer` holds until the next call.
        case reassembled
        /// More of the frame must come.
        case incomplete
        /// The data was dropped, and with it the frame it was a piece of.
        case dropped(DropReason)
    }

    /// Why data was dropped.
    public enum DropReason: Equatable, Sendable {
        /// A piece that continues no frame.
        case continuationWithoutStart
        /// More data than the frame's length field says.
        case overlong
        /// The frame claims to be longer than allowed.
        case frameTooLong
        /// A first piece without any data.
        case empty
    }

    /// How long a frame may be, its 4 octets of header included.
    public var maximumFrameLength: Int
    /// How many packets ended in `dropped`, and how many frames a new one cut short.
    public private(set) var drops = Drops()
    private var partial: [UInt8] = []
    /// Whether a frame has begun and is not whole yet.
    public private(set) var isPartial = false

    /// Counts of what was lost.
    public struct Drops: Equatable, Sendable {
        public var continuationsWithoutStart: UInt64 = 0
        public var overlong: UInt64 = 0
        public var framesTooLong: UInt64 = 0
        public var empty: UInt64 = 0
        /// Frames that were still incomplete when the next one began.
        public var interrupted: UInt64 = 0

        public init() {}
    }

    /// - Parameter maximumFrameLength: the longest frame to accept, its 4 octets of header included.
    public init(maximumFrameLength: Int) { self.maximumFrameLength = maximumFrameLength }

    /// The frame the last call reassembled; else whatever has arrived of one.
    public var buffer: Span<UInt8> {
        @_lifetime(borrow self)
        get { partial.span }
    }

    /// Takes the data of one packet.
    public mutating func receive(_ data: Span<UInt8>, boundary: ACLDataPacket.Boundary) -> Outcome {
        switch boundary {
        case .firstNonFlushable, .firstFlushable, .complete: start(data)
        case .continuing: proceed(data)
        }
    }

    /// Forgets a frame that is not whole yet: for a link that has gone.
    public mutating func reset() {
        if !partial.isEmpty { partial.removeAll(keepingCapacity: true) }
        isPartial = false
    }

    private mutating func start(_ data: Span<UInt8>) -> Outcome {
        if isPartial { drops.interrupted &+= 1 }
        reset()
        guard !data.isEmpty else { return drop(.empty) }
        if let length = frameLength(data) {
            guard length <= maximumFrameLength else { return drop(.frameTooLong) }
            guard data.count <= length else { return drop(.overlong) }
            if data.count == length { return .frame }
        }
        append(data)
        isPartial = true
        return .incomplete
    }

    private mutating func proceed(_ data: Span<UInt8>) -> Outcome {
        guard isPartial else { return drop(.continuationWithoutStart) }
        var offset = 0
        while partial.count < 4, offset < data.count {
            partial.append(data[offset])
            offset += 1
        }
        guard let length = frameLength(partial.span) else { return .incomplete }
        guard length <= maximumFrameLength else { return drop(.frameTooLong) }
        let rest = data.extracting(offset..<data.count)
        guard rest.count <= length - partial.count else { return drop(.overlong) }
        append(rest)
        guard partial.count == length else { return .incomplete }
        isPartial = false
        return .reassembled
    }

    private mutating func append(_ data: Span<UInt8>) {
        data.withUnsafeBufferPointer { partial.append(contentsOf: $0) }
    }

    private mutating func drop(_ reason: DropReason) -> Outcome {
        reset()
        switch reason {
        case .continuationWithoutStart: drops.continuationsWithoutStart &+= 1
        case .overlong: drops.overlong &+= 1
        case .frameTooLong: drops.framesTooLong &+= 1
        case .empty: drops.empty &+= 1
        }
        return .dropped(reason)
    }

    /// How long the frame is that begins with these bytes, header included; nil before its length field has arrived.
    private func frameLength(_ bytes: Span<UInt8>) -> Int? {
        bytes.count < 4 ? nil : 4 + Int(bytes[0]) + Int(bytes[1]) << 8
    }
}
