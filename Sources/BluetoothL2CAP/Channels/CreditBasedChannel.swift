import BluetoothBase

/// One credit-based channel: SDUs cut into K-frames and put together again, and the credits that each K-frame takes
/// (Core 5.4, Vol 3, Part A, 3.4 and 10.1).
public struct CreditBasedChannel: Sendable {
    /// Names a channel for as long as its link lives, even after it was closed and another one has its endpoint.
    public struct ID: Hashable, Sendable {
        /// The endpoint on this device.
        public let endpoint: ChannelIdentifier
        let generation: UInt16

        /// The same as a number, never 0.
        public var rawValue: UInt32 { UInt32(endpoint.rawValue) | UInt32(generation) << 16 }

        public init(rawValue: UInt32) {
            endpoint = ChannelIdentifier(UInt16(truncatingIfNeeded: rawValue))
            generation = UInt16(truncatingIfNeeded: rawValue >> 16)
        }

        init(endpoint: ChannelIdentifier, generation: UInt16) {
            self.endpoint = endpoint
            self.generation = generation
        }

        @inlinable var index: Int { Int(endpoint.rawValue) &- Int(ChannelIdentifier.leDynamicRange.lowerBound) }
    }

    /// The mode of a channel.
    public enum Kind: Sendable {
        /// LE credit-based flow control.
        case leCreditBased
        /// Enhanced credit-based flow control: several are opened at once, and they can be reconfigured.
        case enhanced
    }

    @usableFromInline
    enum Phase: Sendable {
        /// Nobody's: the slot is free.
        case free
        /// The peer was asked for it.
        case opening
        /// As `opening`, and nobody wants it any more.
        case abandoned
        case open
        /// Closed by its user, with SDUs still to send. At the given time they are given up.
        case draining(until: Instant)
        /// Disconnection Request was sent, or is about to be. With the answer, which says that the peer has received all that
        /// was sent, its user learns of this end, where that is not known yet.
        case closing(toReport: ChannelEnd?)
    }

    public internal(set) var id: ID
    public let kind: Kind
    /// The service it leads to.
    public let spsm: UInt16
    /// What this device takes.
    public internal(set) var local: ChannelParameters
    /// The endpoint on the peer.
    public internal(set) var remote: ChannelIdentifier = 0
    /// The longest SDU the peer takes, in octets.
    public internal(set) var peerMTU: UInt16 = 0
    /// The longest payload of a K-frame the peer takes, in octets.
    public internal(set) var peerMPS: UInt16 = 0
    @usableFromInline var phase: Phase

    /// How many K-frames may be sent.
    public var sendCredits: Int { credits }
    @usableFromInline var credits = 0
    /// SDUs that wait for credits, or for room on the link, and how much of the first one has been sent.
    @usableFromInline var queue = PacketQueue(reservingCapacity: 0)
    var sentOfFirst = 0
    /// Whether an SDU was refused since the queue was last short enough.
    var mustSignalReady = false

    /// How many K-frames the peer may send.
    public var receiveCredits: Int { peerCredits }
    @usableFromInline var peerCredits: Int
    /// The worth of the SDUs that the reader has not taken yet, in octets: the sum of `worth(of:)`.
    @usableFromInline var unconsumed = 0
    /// Whether SDUs count as taken when they come: those of an ATT bearer, where each is a PDU that is handled at once.
    @usableFromInline let isTakenAtOnce: Bool
    /// The peer gets credits once the octets that it may send and those not taken yet are no more than this.
    @usableFromInline var creditMark: Int
    /// The least that an SDU is worth, in octets: one K-frame of the MPS at the beginning. It bounds how many SDUs can wait.
    @usableFromInline let leastWorth: Int
    /// The SDU that is coming in, and how much of it is missing. It keeps its memory.
    @usableFromInline var partial = ByteWriter()
    @usableFromInline var missing = 0

    init(_ id: ID, _ kind: Kind, spsm: UInt16, _ local: ChannelParameters, _ phase: Phase) {
        self.id = id
        self.kind = kind
        self.spsm = spsm
        self.local = local
        self.phase = phase
        isTakenAtOnce = spsm == SPSM.enhancedATT
        creditMark = Self.creditMark(of: local)
        peerCredits = Int(local.window)
        leastWorth = Int(local.mps)
    }

    var isInUse: Bool { if case .free = phase { false } else { true } }

    /// Whether its user knows it as open.
    @inlinable var isOpen: Bool {
        switch phase {
        case .open, .draining: true
        case .free, .opening, .abandoned, .closing: false
        }
    }

    /// Whether the peer has an endpoint of it.
    var hasRemote: Bool {
        switch phase {
        case .open, .draining, .closing: true
        case .free, .opening, .abandoned: false
        }
    }

    /// The peer has agreed to the channel.
    mutating func open(remote: ChannelIdentifier, mtu: UInt16, mps: UInt16, credits: UInt16) {
        self.remote = remote
        peerMTU = mtu
        peerMPS = mps
        self.credits = Int(credits)
        phase = .open
    }

    /// The peer has agreed that it may send longer SDUs and K-frames, or shorter K-frames.
    mutating func reconfigure(mtu: UInt16, mps: UInt16) {
        local.mtu = mtu
        local.mps = mps
        creditMark = Self.creditMark(of: local)
    }

    /// Half of the window.
    private static func creditMark(of local: ChannelParameters) -> Int {
        (Int(local.window) - max(1, Int(local.window) / 2)) * Int(local.mps)
    }

    /// Forgets what waits in either direction.
    mutating func discard() {
        queue = PacketQueue(reservingCapacity: 0)
        sentOfFirst = 0
        partial = ByteWriter()
        missing = 0
    }

    // MARK: Receiving

    /// What a K-frame led to.
    public enum Receipt: Hashable, Sendable {
        /// The payload from its third octet on is an SDU.
        case sdu(ID)
        /// The payload from its third octet on is a PDU of an ATT bearer. It counts as taken: the peer may have to get credits
        /// once it was handled.
        case pdu(ID, owesCredits: Bool)
        /// The payload has completed an SDU, which `CreditBasedChannels.appendReassembled` gives.
        case reassembledSDU(ID)
        /// The same for a PDU of an ATT bearer.
        case reassembledPDU(ID, owesCredits: Bool)
        /// More of the SDU must come.
        case incomplete
        /// More of the SDU must come, and the peer is to get credits for that.
        case starved(ID)
        /// The channel is being closed: what comes over it means nothing any more.
        case ignored
        /// There is no such channel.
        case unknown
        /// The channel must be closed.
        case violated(ChannelViolation)
    }

    /// Takes the payload of a K-frame.
    @inlinable @inline(__always)
    mutating func receive(_ payload: Span<UInt8>) -> Receipt {
        switch phase {
        case .open, .draining: break
        case .closing: return .ignored
        case .free, .opening, .abandoned: return .unknown
        }
        guard peerCredits > 0 else { return .violated(.creditExceeded) }
        // The length of the SDU, in its first K-frame, is no part of the information payload, which the MPS limits (3.4.3).
        guard payload.count <= Int(local.mps) &+ (missing == 0 ? 2 : 0) else { return .violated(.frameTooLong) }
        peerCredits &-= 1
        guard missing == 0 else { return proceed(payload) }
        guard payload.count >= 2 else { return .violated(.lengthMissing) }
        let length = Int(payload[0]) | Int(payload[1]) &<< 8
        guard length <= Int(local.mtu) else { return .violated(.sduTooLong) }
        let count = payload.count &- 2
        if count == length {
            guard !isTakenAtOnce else { return .pdu(id, owesCredits: owesCredits) }
            unconsumed &+= worth(of: length)
            return .sdu(id)
        }
        guard count < length else { return .violated(.sduExceeded) }
        partial.removeAll()
        partial.append(payload.extracting(droppingFirst: 2))
        missing = length &- count
        return owesCredits ? .starved(id) : .incomplete
    }

    /// Takes a K-frame that is not the first of its SDU.
    @inlinable @inline(__always)
    mutating func proceed(_ payload: Span<UInt8>) -> Receipt {
        guard payload.count <= missing else { return .violated(.sduExceeded) }
        partial.append(payload)
        missing &-= payload.count
        guard missing == 0 else { return owesCredits ? .starved(id) : .incomplete }
        guard !isTakenAtOnce else { return .reassembledPDU(id, owesCredits: owesCredits) }
        unconsumed &+= worth(of: partial.count)
        return .reassembledSDU(id)
    }

    /// Appends the SDU that is whole now. Mutating only to be read in place.
    @inlinable @inline(__always)
    mutating func appendReassembled(to writer: inout ByteWriter) { writer.append(partial.span) }

    /// The share of the window that an SDU takes, in octets: the same when it arrives and when it is taken, whatever the MPS is by then.
    /// Where the peer used more K-frames than it needs, the rest is given back at once.
    @inlinable @inline(__always)
    func worth(of length: Int) -> Int { max(length &+ 2, leastWorth) }

    /// The reader has taken an SDU. Whether the peer is to get credits now.
    @inlinable @inline(__always)
    mutating func consume(_ length: Int) -> Bool {
        unconsumed = max(0, unconsumed &- worth(of: length))
        return isOpen && owesCredits
    }

    /// How many credits the peer is to get now: several at once, and well before it has to wait. 0 while it is not worth it.
    ///
    /// The octets that it may then send and those not taken yet are `window` K-frames of the current MPS, or less.
    var dueCredits: Int {
        guard owesCredits else { return 0 }
        let mps = Int(local.mps)
        return (Int(local.window) &* mps &- unconsumed) / mps &- peerCredits
    }

    /// Whether there are any.
    @inlinable @inline(__always)
    var owesCredits: Bool { unconsumed &+ peerCredits &* Int(local.mps) <= creditMark }

    // MARK: Sending

    /// Puts several of the oldest SDUs that wait into one, of at most so many octets, where its user can: it takes them out of
    /// the queue, and appends that one to the writer. Otherwise it does nothing.
    public typealias SDUJoining = (inout PacketQueue, Int, inout ByteWriter) -> Void

    /// Appends the payload of the next K-frame of an SDU of which `sent` octets have gone already. There must be a credit.
    @inline(__always)
    mutating func appendFrame(of sdu: Span<UInt8>, sent: inout Int, into writer: inout ByteWriter) {
        credits &-= 1
        var room = Int(peerMPS)
        if sent == 0 {
            writer.append(UInt16(truncatingIfNeeded: sdu.count))
            room &-= 2
        }
        let end = min(sdu.count, sent &+ room)
        writer.append(sdu.extracting(sent..<end))
        sent = end
    }

    /// Appends the payload of the next K-frame of what waits. False without a credit, or if nothing waits.
    mutating func appendWaitingFrame(into writer: inout ByteWriter, join: SDUJoining?) -> Bool {
        guard sendCredits > 0, !queue.isEmpty else { return false }
        credits &-= 1
        if let join, sentOfFirst == 0, queue.count > 1 {
            let start = writer.count
            writer.append(UInt16(0))
            join(&queue, min(Int(peerMTU), Int(peerMPS) &- 2), &writer)
            let length = writer.count &- start &- 2
            writer.overwrite(UInt16(truncatingIfNeeded: length), at: start)
            if length > 0 { return true }
            writer.truncate(to: start)
        }
        var room = Int(peerMPS)
        let length = queue.first.count
        if sentOfFirst == 0 {
            writer.append(UInt16(truncatingIfNeeded: length))
            room &-= 2
        }
        let end = min(length, sentOfFirst &+ room)
        writer.append(queue.first.extracting(sentOfFirst..<end))
        sentOfFirst = end
        if end == length {
            queue.removeFirst()
            sentOfFirst = 0
        }
        return true
    }
}
