import BluetoothBase

/// The credit-based channels of one link, of both kinds, and the pending requests about them.
///
/// `SignallingChannel` owns it and passes on the commands that concern it. Faults stay within their channel: they
/// affect neither other channels nor the link.
public struct CreditBasedChannels: Sendable {
    /// The maximum number of channels that one request can open or reconfigure (Core 5.4, Vol 3, Part A, 4.25).
    public static let greatestCountAtOnce = 5
    /// The number of SDUs that wait for credits on one channel before `prepareToSend` returns `full`.
    public static let sendLimit = 32
    /// How long a closed channel waits for the peer to accept more of the remaining data.
    public static let drainTimeout: Duration = .seconds(30)

    /// Events, oldest first. The owner removes them after each call.
    public var events: [ChannelEvent] = []
    /// The maximum number of channels.
    let capacity: Int
    /// The channels, each at the index of its endpoint, 0x0040 first.
    @usableFromInline var at: [CreditBasedChannel] = []
    var requests: [Request] = []
    /// The indices of the channels whose Disconnection Request is still to be written.
    @usableFromInline var owed: [Int] = []
    private var generation: UInt16 = 0

    /// A local request that waits for its response.
    struct Request: Sendable {
        enum Kind: Sendable {
            case open([CreditBasedChannel.ID], CreditBasedChannel.Kind)
            case reconfigure([CreditBasedChannel.ID], mtu: UInt16, mps: UInt16)
            case disconnect(CreditBasedChannel.ID)
        }

        let identifier: UInt8
        let kind: Kind
        var deadline: Instant
        /// Whether the peer has reported that its answer takes longer, which extends the deadline once.
        var isExtended = false
    }

    init(capacity: Int) {
        self.capacity = max(0, min(capacity, ChannelIdentifier.leDynamicRange.count))
    }

    // MARK: - Inspecting channels

    /// A channel that is open or being opened; nil once it is closed.
    public subscript(id: CreditBasedChannel.ID) -> CreditBasedChannel? { index(of: id).map { at[$0] } }

    /// The open channels.
    public var open: [CreditBasedChannel.ID] { at.compactMap { $0.isOpen ? $0.id : nil } }

    /// Whether no channel exists, open or not.
    public var isEmpty: Bool { !at.contains { $0.isInUse } }

    /// The index of a channel that is not closed.
    @inlinable @inline(__always)
    func index(of id: CreditBasedChannel.ID) -> Int? {
        let index = id.index
        guard index >= 0, index < at.count, at[index].id == id else { return nil }
        switch at[index].phase {
        case .opening, .open, .draining: return index
        case .free, .abandoned, .closing: return nil
        }
    }

    /// When the next request or draining channel times out.
    var nextDeadline: Instant? {
        guard !at.isEmpty else { return nil }
        var deadline: Instant?
        for request in requests { deadline = earliest(deadline, request.deadline) }
        for channel in at { if case .draining(let until) = channel.phase { deadline = earliest(deadline, until) } }
        return deadline
    }

    // MARK: - Places

    /// The number of channels that can still be added.
    public var room: Int { capacity - at.count { $0.isInUse } }

    /// Takes the first free endpoint. Returns nil if none is left.
    mutating func insert(
        _ kind: CreditBasedChannel.Kind, _ spsm: UInt16, _ local: ChannelParameters,
        _ phase: CreditBasedChannel.Phase
    ) -> Int? {
        guard room > 0 else { return nil }
        let index = at.firstIndex { !$0.isInUse } ?? at.count
        generation &+= 1
        let cid = ChannelIdentifier(ChannelIdentifier.leDynamicRange.lowerBound + UInt16(index))
        let id = CreditBasedChannel.ID(cid: cid, generation: generation)
        let channel = CreditBasedChannel(id, kind, spsm: spsm, local, phase)
        if index == at.count { at.append(channel) } else { at[index] = channel }
        return index
    }

    mutating func free(_ index: Int) {
        at[index].discard()
        at[index].phase = .free
        owed.removeAll { $0 == index }
    }

    /// The index of the channel to which the peer has assigned this endpoint.
    func index(ofRemote cid: ChannelIdentifier) -> Int? {
        at.indices.first { at[$0].hasRemote && at[$0].remote == cid }
    }

    // MARK: - Receiving

    /// Handles the payload of a frame on an endpoint of the dynamic range.
    @inlinable @inline(__always)
    public mutating func receive(
        _ payload: Span<UInt8>, on cid: ChannelIdentifier
    ) -> CreditBasedChannel.Receipt {
        let index = Int(cid.rawValue) &- Int(ChannelIdentifier.leDynamicRange.lowerBound)
        guard index >= 0, index < at.count else { return .unknown }
        return at[index].receive(payload)
    }

    /// The ID of the open channel at an endpoint; nil if no open channel has it.
    @inline(__always)
    public func id(at cid: ChannelIdentifier) -> CreditBasedChannel.ID? {
        let index = Int(cid.rawValue) &- Int(ChannelIdentifier.leDynamicRange.lowerBound)
        guard index >= 0, index < at.count, at[index].isOpen else { return nil }
        return at[index].id
    }

    /// Appends the SDU that the last frame of a channel completed.
    @inlinable @inline(__always)
    public mutating func appendReassembled(of id: CreditBasedChannel.ID, to writer: inout ByteWriter) {
        at[id.index].appendReassembled(to: &writer)
    }

    /// Records that the reader has consumed an SDU of this length.
    ///
    /// - Returns: Whether the peer should get credits now, with `SignallingChannel.giveCredits`.
    @inlinable @inline(__always)
    public mutating func consume(_ length: Int, on id: CreditBasedChannel.ID) -> Bool {
        let index = id.index
        guard index >= 0, index < at.count, at[index].id == id else { return false }
        return at[index].consume(share: at[index].worth(of: length))
    }

    /// Records that the reader has consumed SDUs, given the sum of their shares: `ChannelParameters.share(ofSDU:)`.
    ///
    /// - Returns: Whether the peer should get credits now, with `SignallingChannel.giveCredits`.
    @inlinable @inline(__always)
    public mutating func consume(share: Int, on id: CreditBasedChannel.ID) -> Bool {
        let index = id.index
        guard index >= 0, index < at.count, at[index].id == id else { return false }
        return at[index].consume(share: share)
    }

    // MARK: - Sending

    /// Whether fewer than `limit` SDUs wait on a channel. If not, `isReadyAgain` reports when there is room; `events`
    /// does not.
    public mutating func hasRoom(on id: CreditBasedChannel.ID, limit: Int = Self.sendLimit) -> Bool {
        guard let index = index(of: id) else { return false }
        guard at[index].queue.count >= limit else { return true }
        at[index].readyMark = limit / 2
        return false
    }

    /// Whether an SDU can be sent.
    public enum Readiness: Hashable, Sendable {
        /// The SDU can be sent. The associated value is the number of its K-frames that may be sent immediately: 0 if
        /// other SDUs wait before it, or if the channel has no credit.
        case ready(frames: Int)
        /// Too many SDUs wait. `isReadyAgain` reports when there is room.
        case full
        /// The SDU is empty, or longer than the peer's MTU.
        case invalidLength
        /// Nothing more can be sent on the channel.
        case closed
    }

    /// Whether an SDU of `length` octets can be sent. If the answer is `full`, the channel will report `isReadyAgain`.
    public mutating func prepareToSend(_ length: Int, on id: CreditBasedChannel.ID) -> Readiness {
        guard let index = index(of: id), case .open = at[index].phase else { return .closed }
        guard length > 0, length <= Int(at[index].peerMTU) else { return .invalidLength }
        guard at[index].queue.isEmpty else { return hasRoom(on: id) ? .ready(frames: 0) : .full }
        return .ready(frames: at[index].sendCredits)
    }

    /// Takes a credit for an SDU of `length` octets that fits in one K-frame and need not wait.
    ///
    /// - Returns: The peer's endpoint to send it to; nil if the SDU must wait or is longer than a K-frame, or the
    ///   channel is not open.
    @inlinable @inline(__always)
    public mutating func takeCredit(forWhole length: Int, on id: CreditBasedChannel.ID) -> ChannelIdentifier? {
        let index = id.index
        guard index >= 0, index < at.count, at[index].id == id, case .open = at[index].phase, at[index].credits > 0,
            length &+ 2 <= Int(at[index].peerMPS), at[index].queue.isEmpty
        else { return nil }
        at[index].credits &-= 1
        return at[index].remote
    }

    /// The number of K-frames of a further SDU that may be sent immediately: 0 if others wait before it, nil if the
    /// channel is not open. For an SDU that may not be refused, however many wait.
    public func readyFrames(on id: CreditBasedChannel.ID) -> Int? {
        guard let index = index(of: id), case .open = at[index].phase else { return nil }
        return at[index].queue.isEmpty ? at[index].sendCredits : 0
    }

    /// Appends the payload of the next K-frame of an SDU, of which `sent` octets have been sent, as far as
    /// `prepareToSend` allows.
    ///
    /// - Returns: The peer's endpoint to send it to.
    public mutating func appendFrame(
        of sdu: Span<UInt8>, sent: inout Int, on id: CreditBasedChannel.ID, into writer: inout ByteWriter
    ) -> ChannelIdentifier {
        at[id.index].appendFrame(of: sdu, sent: &sent, into: &writer)
        return at[id.index].remote
    }

    /// Queues an SDU, of which `sent` octets have been sent, until credits and room on the link are available.
    public mutating func enqueue(_ sdu: consuming [UInt8], sent: Int, on id: CreditBasedChannel.ID) {
        guard let index = index(of: id) else { return }
        if at[index].queue.isEmpty { at[index].sentOfFirst = sent }
        at[index].queue.append(sdu)
    }

    /// The number of SDUs that wait on a channel.
    @inlinable
    public func waitingCount(on id: CreditBasedChannel.ID) -> Int { index(of: id).map { at[$0].queue.count } ?? 0 }

    // Inlinable like everything that is read for each K-frame, so that the channels are read in place. Otherwise each
    // of their arrays is retained and released.

    /// The next channel after an endpoint, in round-robin order, that has something to send and credits for it.
    @inlinable @inline(__always)
    public func nextToSend(after cid: ChannelIdentifier) -> CreditBasedChannel.ID? {
        var index = max(0, Int(cid.rawValue) &- Int(ChannelIdentifier.leDynamicRange.lowerBound) &+ 1)
        for _ in 0..<at.count {
            if index >= at.count { index = 0 }
            if at[index].isOpen, at[index].credits > 0, !at[index].queue.isEmpty { return at[index].id }
            index &+= 1
        }
        return nil
    }

    /// Appends the payload of the next K-frame that waits on a channel, and returns the peer's endpoint to send it to.
    ///
    /// - Parameter join: Joins several SDUs into one, if possible. Not called for an SDU that was partly sent.
    @inlinable @inline(__always)
    public mutating func appendWaitingFrame(
        on id: CreditBasedChannel.ID, at now: Instant, into writer: inout ByteWriter,
        join: CreditBasedChannel.SDUJoining? = nil
    ) -> ChannelIdentifier? {
        guard let index = index(of: id), at[index].appendWaitingFrame(into: &writer, join: join) else { return nil }
        sent(on: index, at: now)
        return at[index].remote
    }

    /// Whether a channel is the only one that has something to send and credits for it.
    @inlinable @inline(__always)
    public func sendsAlone(_ id: CreditBasedChannel.ID) -> Bool { nextToSend(after: id.cid) == id }

    /// Appends K-frames that wait on a channel to a queue, each as a packet, as far as the peer's credits allow. This
    /// costs less per frame than `appendWaitingFrame`.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of frames.
    ///   - longest: the longest payload that fits into a packet. If the peer accepts longer ones, nothing is sent.
    ///   - headers: returns the nine octets in front of a payload, the first one separately, given the peer's endpoint
    ///     and the length of the payload.
    /// - Returns: the number of frames.
    @inlinable @inline(__always)
    public mutating func appendWaitingFrames(
        on id: CreditBasedChannel.ID, upTo limit: Int, longest: Int, at now: Instant, into packets: inout PacketQueue,
        _ headers: (ChannelIdentifier, Int) -> (UInt8, UInt64)
    ) -> Int {
        guard let index = index(of: id), Int(at[index].peerMPS) <= longest else { return 0 }
        let count = at[index].appendWaitingFrames(upTo: limit, into: &packets, headers)
        if count > 0 { sent(on: index, at: now) }
        return count
    }

    /// A channel that is being drained gets more time whenever the peer's credits let it send.
    @inlinable @inline(__always)
    mutating func sent(on index: Int, at now: Instant) {
        if case .draining = at[index].phase { at[index].phase = .draining(until: now.advanced(by: Self.drainTimeout)) }
    }

    /// Whether a channel's queue, which was full, has room again. Returns true only once.
    @inlinable @inline(__always)
    public mutating func isReadyAgain(_ id: CreditBasedChannel.ID) -> Bool {
        guard let index = index(of: id), let mark = at[index].readyMark, at[index].queue.count <= mark else {
            return false
        }
        at[index].readyMark = nil
        return true
    }

    // MARK: - The end of the link

    /// Closes all channels, because the link has ended.
    public mutating func linkEnded() {
        for request in requests {
            guard case .open(let ids, _) = request.kind else { continue }
            for id in ids where index(of: id) != nil { events.append(.openingFailed(id, .cancelled)) }
        }
        for channel in at {
            switch channel.phase {
            case .open, .draining, .closing(toReport: .some): events.append(.closed(channel.id, .linkEnded))
            case .free, .opening, .abandoned, .closing(toReport: nil): continue
            }
        }
        at = []
        requests = []
        owed = []
    }
}
