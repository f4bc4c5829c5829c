import BluetoothBase

/// The credit-based channels of one link, both kinds, and the requests about them that wait for their answers.
///
/// `SignallingChannel` owns it and passes on the commands that concern it. What a channel's K-frames do stays with that
/// channel: no fault of one touches another, or the link.
public struct CreditBasedChannels: Sendable {
    /// How many channels one request can open or reconfigure (Core 5.4, Vol 3, Part A, 4.25).
    public static let greatestCountAtOnce = 5
    /// How many SDUs wait for credits on one channel before `send` says "not now".
    public static let sendLimit = 8
    /// How long a channel that was closed waits for the peer to take more of what is still to send.
    public static let drainTimeout: Duration = .seconds(30)

    /// What has happened, oldest first: to be taken by the owner after each call.
    public var events: [ChannelEvent] = []
    /// How many channels there may be at a time.
    let capacity: Int
    /// Each at the place of its endpoint, 0x0040 first.
    @usableFromInline var at: [CreditBasedChannel] = []
    var requests: [Request] = []
    /// The places of the channels whose Disconnection Request is still to be written.
    var owed: [Int] = []
    private var generation: UInt16 = 0

    /// A request of ours that waits for its answer.
    struct Request: Sendable {
        enum Kind: Sendable {
            case open([CreditBasedChannel.ID], CreditBasedChannel.Kind)
            case reconfigure([CreditBasedChannel.ID], mtu: UInt16, mps: UInt16)
            case disconnect(CreditBasedChannel.ID)
        }

        let identifier: UInt8
        let kind: Kind
        var deadline: Instant
        /// Whether the peer has said that its answer takes longer, which it may once.
        var isExtended = false
    }

    init(capacity: Int) {
        self.capacity = max(0, min(capacity, ChannelIdentifier.leDynamicRange.count))
    }

    // MARK: - What there is

    /// A channel that is open, or still to be opened; nil once it is closed.
    public subscript(id: CreditBasedChannel.ID) -> CreditBasedChannel? { index(of: id).map { at[$0] } }

    /// The channels that are open.
    public var open: [CreditBasedChannel.ID] { at.compactMap { $0.isOpen ? $0.id : nil } }

    /// Whether there is any channel, open or not.
    public var isEmpty: Bool { !at.contains { $0.isInUse } }

    /// The place of a channel that is not closed.
    @inline(__always)
    func index(of id: CreditBasedChannel.ID) -> Int? {
        let index = id.index
        guard index >= 0, index < at.count, at[index].id == id else { return nil }
        switch at[index].phase {
        case .opening, .open, .draining: return index
        case .free, .abandoned, .closing: return nil
        }
    }

    /// When something of them is due.
    var nextDeadline: Instant? {
        guard !at.isEmpty else { return nil }
        var deadline: Instant?
        for request in requests { deadline = earliest(deadline, request.deadline) }
        for channel in at { if case .draining(let until) = channel.phase { deadline = earliest(deadline, until) } }
        return deadline
    }

    // MARK: - Places

    /// How many more there may be.
    public var room: Int { capacity - at.count { $0.isInUse } }

    /// Takes the first free endpoint. Nil where none is left.
    mutating func insert(
        _ kind: CreditBasedChannel.Kind, _ spsm: UInt16, _ local: ChannelParameters,
        _ phase: CreditBasedChannel.Phase
    ) -> Int? {
        guard room > 0 else { return nil }
        let index = at.firstIndex { !$0.isInUse } ?? at.count
        generation &+= 1
        let endpoint = ChannelIdentifier(ChannelIdentifier.leDynamicRange.lowerBound + UInt16(index))
        let id = CreditBasedChannel.ID(endpoint: endpoint, generation: generation)
        let channel = CreditBasedChannel(id, kind, spsm: spsm, local, phase)
        if index == at.count { at.append(channel) } else { at[index] = channel }
        return index
    }

    mutating func free(_ index: Int) {
        at[index].discard()
        at[index].phase = .free
        owed.removeAll { $0 == index }
    }

    /// Whether the peer has given this endpoint of its own to a channel that is still there.
    func index(ofRemote endpoint: ChannelIdentifier) -> Int? {
        at.indices.first { at[$0].hasRemote && at[$0].remote == endpoint }
    }

    // MARK: - Receiving

    /// Takes the payload of a frame on an endpoint of the dynamic range.
    @inlinable @inline(__always)
    public mutating func receive(
        _ payload: Span<UInt8>, on endpoint: ChannelIdentifier
    ) -> CreditBasedChannel.Receipt {
        let index = Int(endpoint.rawValue) &- Int(ChannelIdentifier.leDynamicRange.lowerBound)
        guard index >= 0, index < at.count else { return .unknown }
        return at[index].receive(payload)
    }

    /// The name of the channel at an endpoint; nil if there is none open.
    @inline(__always)
    public func id(at endpoint: ChannelIdentifier) -> CreditBasedChannel.ID? {
        let index = Int(endpoint.rawValue) &- Int(ChannelIdentifier.leDynamicRange.lowerBound)
        guard index >= 0, index < at.count, at[index].isOpen else { return nil }
        return at[index].id
    }

    /// Appends the SDU that the last frame of a channel has completed.
    @inlinable @inline(__always)
    public mutating func appendReassembled(of id: CreditBasedChannel.ID, to writer: inout ByteWriter) {
        at[id.index].appendReassembled(to: &writer)
    }

    /// The reader has taken an SDU of this length.
    ///
    /// - Returns: whether the peer is to get credits now: `SignallingChannel.giveCredits`.
    @inlinable @inline(__always)
    public mutating func consume(_ length: Int, on id: CreditBasedChannel.ID) -> Bool {
        let index = id.index
        guard index >= 0, index < at.count, at[index].id == id else { return false }
        return at[index].consume(length)
    }

    // MARK: - Sending

    /// Whether fewer than `limit` SDUs wait on a channel. If not, `events` will not say when, but `isReadyAgain` will.
    public mutating func hasRoom(on id: CreditBasedChannel.ID, limit: Int = Self.sendLimit) -> Bool {
        guard let index = index(of: id) else { return false }
        guard at[index].queue.count >= limit else { return true }
        at[index].mustSignalReady = true
        return false
    }

    /// Whether an SDU can be sent.
    public enum Readiness: Hashable, Sendable {
        /// It can: so many K-frames may go out at once, 0 where others wait before it, or there is no credit.
        case ready(frames: Int)
        /// Too much waits. `isReadyAgain` will say when not any more.
        case full
        /// It is empty, or longer than the peer's MTU.
        case invalidLength
        /// Nothing more can be sent on the channel.
        case closed
    }

    /// Whether an SDU of `length` octets can be sent. It changes a channel where `full` is the answer.
    public mutating func prepareToSend(_ length: Int, on id: CreditBasedChannel.ID) -> Readiness {
        guard let index = index(of: id), case .open = at[index].phase else { return .closed }
        guard length > 0, length <= Int(at[index].peerMTU) else { return .invalidLength }
        guard at[index].queue.isEmpty else { return hasRoom(on: id) ? .ready(frames: 0) : .full }
        return .ready(frames: at[index].sendCredits)
    }

    /// Takes a credit for an SDU of `length` octets that is one K-frame and need not wait.
    ///
    /// - Returns: the endpoint of the peer it goes to; nil where it has to wait, or is longer than a K-frame, or the channel is
    ///   not open.
    @inlinable @inline(__always)
    public mutating func takeCredit(forWhole length: Int, on id: CreditBasedChannel.ID) -> ChannelIdentifier? {
        let index = id.index
        guard index >= 0, index < at.count, at[index].id == id, case .open = at[index].phase, at[index].credits > 0,
            length &+ 2 <= Int(at[index].peerMPS), at[index].queue.isEmpty
        else { return nil }
        at[index].credits &-= 1
        return at[index].remote
    }

    /// How many K-frames of a further SDU may go out at once: none where others wait before it; nil where the channel is not
    /// open. For an SDU that may not be refused, however many wait.
    public func readyFrames(on id: CreditBasedChannel.ID) -> Int? {
        guard let index = index(of: id), case .open = at[index].phase else { return nil }
        return at[index].queue.isEmpty ? at[index].sendCredits : 0
    }

    /// Appends the payload of the next K-frame of an SDU, of which `sent` octets have gone, as far as `prepareToSend` allows.
    ///
    /// - Returns: the endpoint of the peer it goes to.
    public mutating func appendFrame(
        of sdu: Span<UInt8>, sent: inout Int, on id: CreditBasedChannel.ID, into writer: inout ByteWriter
    ) -> ChannelIdentifier {
        at[id.index].appendFrame(of: sdu, sent: &sent, into: &writer)
        return at[id.index].remote
    }

    /// Lets an SDU, of which `sent` octets have gone, wait for credits or for room on the link.
    public mutating func enqueue(_ sdu: Span<UInt8>, sent: Int, on id: CreditBasedChannel.ID) {
        guard let index = index(of: id) else { return }
        if at[index].queue.isEmpty { at[index].sentOfFirst = sent }
        at[index].queue.append(sdu)
    }

    /// How many SDUs wait on a channel.
    public func waitingCount(on id: CreditBasedChannel.ID) -> Int { index(of: id).map { at[$0].queue.count } ?? 0 }

    /// The next channel after an endpoint, in a circle, that has something to send and credits for it.
    public func nextToSend(after endpoint: ChannelIdentifier) -> CreditBasedChannel.ID? {
        guard !at.isEmpty else { return nil }
        let start = Int(endpoint.rawValue) - Int(ChannelIdentifier.leDynamicRange.lowerBound) + 1
        for offset in 0..<at.count {
            let index = (max(0, start) + offset) % at.count
            if at[index].isOpen, at[index].sendCredits > 0, !at[index].queue.isEmpty { return at[index].id }
        }
        return nil
    }

    /// Whether SDUs wait on any channel.
    public var isWaiting: Bool { at.contains { $0.isOpen && !$0.queue.isEmpty } }

    /// Appends the payload of the next K-frame of what waits on a channel; the endpoint of the peer it goes to.
    ///
    /// - Parameter join: may put several SDUs into one; not called for one of which a part has gone.
    public mutating func appendWaitingFrame(
        on id: CreditBasedChannel.ID, at now: Instant, into writer: inout ByteWriter,
        join: CreditBasedChannel.SDUJoining? = nil
    ) -> ChannelIdentifier? {
        guard let index = index(of: id), at[index].appendWaitingFrame(into: &writer, join: join) else { return nil }
        if case .draining = at[index].phase { at[index].phase = .draining(until: now.advanced(by: Self.drainTimeout)) }
        return at[index].remote
    }

    /// Whether a channel's queue, which was full, has room again. Says so once.
    public mutating func isReadyAgain(_ id: CreditBasedChannel.ID) -> Bool {
        guard let index = index(of: id), at[index].mustSignalReady, at[index].queue.count <= Self.sendLimit / 2 else {
            return false
        }
        at[index].mustSignalReady = false
        return true
    }

    // MARK: - The end of the link

    /// The link has ended, and all channels with it.
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
