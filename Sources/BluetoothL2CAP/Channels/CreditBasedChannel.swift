import BluetoothBase

/// One credit-based channel: it segments SDUs into K-frames, reassembles them, and counts the credit that each K-frame
/// takes (Core 5.4, Vol 3, Part A, 3.4 and 10.1).
public struct CreditBasedChannel: Sendable {
    /// Identifies a channel for the lifetime of its link, even after it was closed and another channel uses its
    /// endpoint.
    public struct ID: Hashable, Sendable {
        /// The endpoint on this device.
        public let cid: ChannelIdentifier
        let generation: UInt16

        /// The ID as a number, never 0.
        public var rawValue: UInt32 { UInt32(cid.rawValue) | UInt32(generation) << 16 }

        /// Creates the ID with the number that `rawValue` returned. Other numbers identify no channel.
        public init(rawValue: UInt32) {
            cid = ChannelIdentifier(UInt16(truncatingIfNeeded: rawValue))
            generation = UInt16(truncatingIfNeeded: rawValue >> 16)
        }

        init(cid: ChannelIdentifier, generation: UInt16) {
            self.cid = cid
            self.generation = generation
        }

        @inlinable var index: Int { Int(cid.rawValue) &- Int(ChannelIdentifier.leDynamicRange.lowerBound) }
    }

    /// The mode of a channel.
    public enum Kind: Sendable {
        /// LE credit-based flow control.
        case leCreditBased
        /// Enhanced credit-based flow control: several channels can be opened at once, and can be reconfigured.
        case enhanced
    }

    @usableFromInline
    enum Phase: Sendable {
        /// The slot is free.
        case free
        /// The channel has been requested from the peer.
        case opening
        /// Like `opening`, but the caller no longer wants the channel.
        case abandoned
        case open
        /// Closed by its user, with SDUs still to send. They are discarded at the given time.
        case draining(until: Instant)
        /// A Disconnection Request was sent, or is about to be. Its response shows that the peer has received
        /// everything that was sent. `toReport` is the end to report then; nil if it was already reported.
        case closing(toReport: ChannelEnd?)
    }

    /// Identifies this channel on its link.
    public internal(set) var id: ID
    /// The mode of the channel, which never changes.
    public let kind: Kind
    /// The service that the channel leads to.
    public let spsm: UInt16
    /// The limits of this device.
    public internal(set) var local: ChannelParameters
    /// The endpoint on the peer.
    public internal(set) var remote: ChannelIdentifier = 0
    /// The longest SDU that the peer accepts, in octets.
    public internal(set) var peerMTU: UInt16 = 0
    /// The longest payload of a K-frame that the peer accepts, in octets.
    public internal(set) var peerMPS: UInt16 = 0
    @usableFromInline var phase: Phase

    /// The number of K-frames that may be sent.
    @inlinable public var sendCredits: Int { credits }
    @usableFromInline var credits = 0
    /// SDUs that wait for credits, or for room on the link, and the number of octets of the first one already sent.
    @usableFromInline var queue = SDUQueue()
    @usableFromInline var sentOfFirst = 0
    /// The number of waiting SDUs at which the queue has room again, if an SDU was refused since it last had room.
    @usableFromInline var readyMark: Int?

    /// The number of K-frames that the peer may send.
    public var receiveCredits: Int { peerCredits }
    @usableFromInline var peerCredits: Int
    /// The window share of the SDUs that the reader has not consumed yet, in octets: the sum of `worth(of:)`.
    @usableFromInline var unconsumed = 0
    /// Whether SDUs count as consumed on arrival. On an ATT bearer, each SDU is a PDU that is handled immediately.
    @usableFromInline let isTakenAtOnce: Bool
    /// The peer gets credits once the octets that it may send and those not consumed yet do not exceed this number.
    @usableFromInline var creditMark: Int
    /// The minimum window share of an SDU, in octets: one K-frame of the initial MPS. It limits the number of waiting
    /// SDUs.
    @usableFromInline let leastWorth: Int
    /// The SDU being received, and the number of octets missing. The buffer keeps its memory.
    @usableFromInline var partial = ByteWriter()
    @usableFromInline var missing = 0

    init(_ id: ID, _ kind: Kind, spsm: UInt16, _ local: ChannelParameters, _ phase: Phase) {
        self.id = id
        self.kind = kind
        self.spsm = spsm
        self.local = local
        self.phase = phase
        isTakenAtOnce = spsm == SPSM.enhancedATT
        creditMark = local.creditMark
        peerCredits = Int(local.window)
        leastWorth = Int(local.mps)
    }

    var isInUse: Bool { if case .free = phase { false } else { true } }

    /// Whether the channel is open for its user.
    @inlinable var isOpen: Bool {
        switch phase {
        case .open, .draining: true
        case .free, .opening, .abandoned, .closing: false
        }
    }

    /// Whether the channel has an endpoint on the peer.
    var hasRemote: Bool {
        switch phase {
        case .open, .draining, .closing: true
        case .free, .opening, .abandoned: false
        }
    }

    /// Opens the channel after the peer has agreed.
    mutating func open(remote: ChannelIdentifier, mtu: UInt16, mps: UInt16, credits: UInt16) {
        self.remote = remote
        peerMTU = mtu
        peerMPS = mps
        self.credits = Int(credits)
        phase = .open
    }

    /// Applies limits that the peer has accepted: longer SDUs and K-frames, or shorter K-frames.
    mutating func reconfigure(mtu: UInt16, mps: UInt16) {
        local.mtu = mtu
        local.mps = mps
        creditMark = local.creditMark
    }

    /// Discards the waiting data of both directions.
    mutating func discard() {
        queue = SDUQueue()
        sentOfFirst = 0
        partial = ByteWriter()
        missing = 0
    }

    // MARK: Receiving

    /// The result of a received K-frame.
    public enum Receipt: Hashable, Sendable {
        /// The payload from its third octet on is an SDU.
        case sdu(ID)
        /// The payload from its third octet on is a PDU of an ATT bearer. It counts as consumed. If `owesCredits`, the
        /// peer must get credits once the PDU has been handled.
        case pdu(ID, owesCredits: Bool)
        /// The payload has completed an SDU. Copy it with `CreditBasedChannels.appendReassembled`.
        case reassembledSDU(ID)
        /// The payload has completed a PDU of an ATT bearer. Copy it as for `reassembledSDU`; for `owesCredits`, see
        /// `pdu`.
        case reassembledPDU(ID, owesCredits: Bool)
        /// The SDU is not complete yet.
        case incomplete
        /// The SDU is not complete yet, and the peer must get credits to continue.
        case starved(ID)
        /// The channel is being closed. Its data is ignored.
        case ignored
        /// The channel does not exist.
        case unknown
        /// The channel must be closed.
        case violated(ChannelViolation)
    }

    /// Handles the payload of a K-frame.
    @inlinable @inline(__always)
    mutating func receive(_ payload: Span<UInt8>) -> Receipt {
        switch phase {
        case .open, .draining: break
        case .closing: return .ignored
        case .free, .opening, .abandoned: return .unknown
        }
        guard peerCredits > 0 else { return .violated(.creditExceeded) }
        // The SDU length in the first K-frame is not part of the information payload, which the MPS limits (3.4.3).
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

    /// Handles a K-frame that is not the first of its SDU.
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

    /// Appends the completed SDU. Mutating only so that it is read in place.
    @inlinable @inline(__always)
    mutating func appendReassembled(to writer: inout ByteWriter) { writer.append(partial.span) }

    /// The share of the window that an SDU takes, in octets. It is the same on arrival and on consumption, even if the
    /// MPS has changed in between. If the peer used more K-frames than necessary, the difference is given back
    /// immediately.
    @inlinable @inline(__always)
    func worth(of length: Int) -> Int { ChannelParameters.share(ofSDU: length, atLeast: leastWorth) }

    /// Records that the reader has consumed SDUs with these shares of the window. Returns whether the peer should get
    /// credits now.
    @inlinable @inline(__always)
    mutating func consume(share: Int) -> Bool {
        unconsumed = max(0, unconsumed &- share)
        return isOpen && owesCredits
    }

    /// The number of credits to give the peer now: several at once, and well before it has to wait. 0 while it is not
    /// worthwhile.
    ///
    /// Afterwards, the octets that the peer may send and those not consumed yet amount to at most `window` K-frames of
    /// the current MPS.
    var dueCredits: Int {
        guard owesCredits else { return 0 }
        let mps = Int(local.mps)
        return (Int(local.window) &* mps &- unconsumed) / mps &- peerCredits
    }

    /// Whether credits are due.
    @inlinable @inline(__always)
    var owesCredits: Bool { unconsumed &+ peerCredits &* Int(local.mps) <= creditMark }

    // MARK: Sending

    /// Joins several of the oldest waiting SDUs into one, of at most the given number of octets, if the user supports
    /// it: removes them from the queue, and appends the joined SDU to the writer. Otherwise it does nothing.
    public typealias SDUJoining = (inout SDUQueue, Int, inout ByteWriter) -> Void

    /// Appends the payload of the next K-frame of an SDU, of which `sent` octets have been sent. A credit must be
    /// available.
    @inline(__always)
    mutating func appendFrame(of sdu: Span<UInt8>, sent: inout Int, into writer: inout ByteWriter) {
        credits &-= 1
        let part = Part(from: sent, room: Int(peerMPS), of: sdu.count)
        if part.isFirst { writer.append(UInt16(truncatingIfNeeded: part.lengthOfSDU)) }
        writer.append(sdu.extracting(sent..<part.end))
        sent = part.end
    }

    /// Appends the payload of the next K-frame that waits. Returns false without a credit, or if nothing waits.
    @inlinable @inline(__always)
    mutating func appendWaitingFrame(into writer: inout ByteWriter, join: SDUJoining?) -> Bool {
        guard sendCredits > 0, !queue.isEmpty else { return false }
        credits &-= 1
        if let join, sentOfFirst == 0, queue.count > 1, appendJoined(join, into: &writer) { return true }
        let part = nextPart
        if part.isFirst { writer.append(UInt16(truncatingIfNeeded: part.lengthOfSDU)) }
        let start = sentOfFirst
        queue.withFirst { writer.append($0.extracting(start..<part.end)) }
        sent(part)
        return true
    }

    /// Appends the K-frames that wait to a queue, each as a packet. See `CreditBasedChannels.appendWaitingFrames`.
    @inlinable @inline(__always)
    mutating func appendWaitingFrames(
        upTo limit: Int, into packets: inout PacketQueue, _ headers: (ChannelIdentifier, Int) -> (UInt8, UInt64)
    ) -> Int {
        var count = 0
        while count < limit, sendCredits > 0, !queue.isEmpty {
            let (remote, mps, start, room) = (remote, Int(peerMPS), sentOfFirst, min(limit &- count, credits))
            let (frames, end) = queue.withFirst { sdu in
                Self.appendFrames(of: sdu, from: start, mps, upTo: room, into: &packets) { headers(remote, $0) }
            }
            count &+= frames
            credits &-= frames
            sentOfFirst = end
            if end == queue.firstLength { removeFirst() }
        }
        return count
    }

    /// Appends K-frames of an SDU, of which `sent` octets have been sent.
    ///
    /// - Returns: the number of K-frames, and the number of octets of the SDU that have now been sent.
    // Static, because a closure that captures the channel would copy it.
    @inlinable @inline(__always)
    static func appendFrames(
        of sdu: Span<UInt8>, from sent: Int, _ mps: Int, upTo limit: Int, into packets: inout PacketQueue,
        _ headers: (Int) -> (UInt8, UInt64)
    ) -> (count: Int, end: Int) {
        let length = sdu.count
        var start = sent, count = 0
        while count < limit, start < length {
            let part = Part(from: start, room: mps, of: length)
            let (type, header) = headers(part.end &- start &+ (part.isFirst ? 2 : 0))
            packets.writer.append(
                type, header, part.isFirst ? UInt16(truncatingIfNeeded: length) : nil,
                then: sdu.extracting(start..<part.end))
            packets.commit()
            start = part.end
            count &+= 1
        }
        return (count, start)
    }

    /// The part of an SDU that a K-frame carries. The first K-frame starts with the length of the SDU.
    @usableFromInline
    struct Part {
        @usableFromInline let isFirst: Bool
        @usableFromInline let end: Int
        @usableFromInline let lengthOfSDU: Int

        @inlinable @inline(__always)
        init(from start: Int, room: Int, of lengthOfSDU: Int) {
            isFirst = start == 0
            end = min(lengthOfSDU, start &+ room &- (isFirst ? 2 : 0))
            self.lengthOfSDU = lengthOfSDU
        }
    }

    @inlinable @inline(__always)
    var nextPart: Part { Part(from: sentOfFirst, room: Int(peerMPS), of: queue.firstLength) }

    @inlinable @inline(__always)
    mutating func sent(_ part: Part) {
        sentOfFirst = part.end
        if part.end == part.lengthOfSDU { removeFirst() }
    }

    @inlinable @inline(__always)
    mutating func removeFirst() {
        queue.removeFirst()
        sentOfFirst = 0
    }

    /// Appends the SDU that some of the waiting ones are joined into. Returns false if none were joined.
    @usableFromInline
    mutating func appendJoined(_ join: SDUJoining, into writer: inout ByteWriter) -> Bool {
        let start = writer.count
        writer.append(UInt16(0))
        join(&queue, min(Int(peerMTU), Int(peerMPS) &- 2), &writer)
        let length = writer.count &- start &- 2
        writer.overwrite(UInt16(truncatingIfNeeded: length), at: start)
        if length == 0 { writer.truncate(to: start) }
        return length > 0
    }
}
