/// A first-in, first-out queue of packets laid end to end in one buffer.
///
/// A packet is written in place: append to `writer`, then `commit()` it as one packet or `rollback()`. The memory is
/// reused, so a steady state allocates nothing. Packet boundaries are kept, because the kernel's packet sockets take
/// one packet per write.
public struct PacketQueue: Sendable {
    /// The destination of the packet being written. Only append to it, or overwrite at offsets from `openOffset` on.
    public var writer: ByteWriter
    /// The offset in `writer` of the first byte of the packet being written.
    @inlinable @inline(__always)
    public var openOffset: Int { open }

    @usableFromInline var open = 0
    /// The end offsets of the packets, in a ring buffer. `ends.count` is a power of two.
    @usableFromInline var ends: [Int]
    @usableFromInline var head = 0
    @usableFromInline var packetCount = 0
    /// The offset of the oldest packet.
    @usableFromInline var start = 0

    /// Creates an empty queue with room for packets of `capacity` bytes in total. It grows when that room is used up.
    public init(reservingCapacity capacity: Int = 4096) {
        writer = ByteWriter(reservingCapacity: capacity)
        ends = Array(repeating: 0, count: capacity > 0 ? 64 : 2)
    }

    /// Whether the queue has no packets. The packet being written does not count.
    @inlinable @inline(__always)
    public var isEmpty: Bool { packetCount == 0 }

    /// The number of packets.
    @inlinable @inline(__always)
    public var count: Int { packetCount }

    /// The total length of the packets, in bytes.
    @inlinable @inline(__always)
    public var byteCount: Int { open &- start }

    /// Ends the packet being written. An empty one is dropped.
    @inlinable @inline(__always)
    public mutating func commit() {
        guard writer.count > open else { return }
        if packetCount == ends.count { growRing() }
        ends[(head &+ packetCount) & (ends.count &- 1)] = writer.count
        packetCount &+= 1
        open = writer.count
    }

    /// Drops the packet being written.
    @inlinable @inline(__always)
    public mutating func rollback() {
        writer.truncate(to: open)
    }

    /// Appends a whole packet.
    @inlinable
    public mutating func append(_ packet: Span<UInt8>) {
        writer.append(packet)
        commit()
    }

    /// The bytes of all packets, laid end to end.
    @inlinable
    public var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        get { writer.span.extracting(start..<open) }
    }

    /// The bytes of the oldest packet; empty if the queue is empty.
    @inlinable @inline(__always)
    public var first: Span<UInt8> {
        @_lifetime(borrow self)
        get { writer.span.extracting(start..<(packetCount == 0 ? start : ends[head])) }
    }

    /// The bytes of a packet, counted from the oldest. `index` must be less than `count`.
    @_lifetime(borrow self)
    public func packet(at index: Int) -> Span<UInt8> {
        precondition(index >= 0 && index < packetCount)
        let begin = index == 0 ? start : ends[(head &+ index &- 1) & (ends.count &- 1)]
        return writer.span.extracting(begin..<ends[(head &+ index) & (ends.count &- 1)])
    }

    /// Drops the oldest packet.
    @inlinable
    public mutating func removeFirst() {
        guard packetCount > 0 else { return }
        start = ends[head]
        head = (head &+ 1) & (ends.count &- 1)
        packetCount &-= 1
        reclaim()
    }

    /// Drops every packet, but not the one being written.
    public mutating func removePackets() {
        start = open
        packetCount = 0
        reclaim()
    }

    /// Reuses the space of removed packets if that is worthwhile.
    @inlinable @inline(__always)
    mutating func reclaim() {
        if packetCount == 0, writer.count == open {
            restart()
        } else if start > 4096, start > writer.count / 2 {
            compact()
        }
    }

    /// Calls `body` with each packet, oldest first.
    public func forEach(_ body: (Span<UInt8>) -> Void) {
        var begin = start
        for index in 0..<packetCount {
            let end = ends[(head &+ index) & (ends.count &- 1)]
            body(writer.span.extracting(begin..<end))
            begin = end
        }
    }

    /// Drops every packet, including the one being written.
    @inlinable
    public mutating func removeAll() {
        packetCount = 0
        restart()
    }

    /// Drops the packets that satisfy a predicate, except the one being written.
    ///
    /// This copies the queue, so do not call it for every packet.
    public mutating func removeAll(where isUnwanted: (Span<UInt8>) -> Bool) {
        var kept = PacketQueue(reservingCapacity: writer.count)
        forEach { packet in
            if !isUnwanted(packet) { kept.append(packet) }
        }
        guard kept.count < count else { return }
        kept.writer.append(writer.span.extracting(open..<writer.count))
        self = kept
    }

    /// Removes the oldest packet and returns it as an array, for tests and for callers that can afford a copy.
    public mutating func popFirst() -> [UInt8]? {
        guard !isEmpty else { return nil }
        let packet = Array(first)
        removeFirst()
        return packet
    }

    @inlinable @inline(__always)
    mutating func restart() {
        writer.removeAll()
        start = 0
        open = 0
    }

    /// Reclaims the space of removed packets; without this, a queue that is never empty would grow forever. It runs
    /// when they take up half of the buffer, so each byte moves once on average.
    @usableFromInline @inline(never)
    mutating func compact() {
        writer.removeFirst(start)
        for index in 0..<packetCount { ends[(head + index) & (ends.count - 1)] -= start }
        open -= start
        start = 0
    }

    @usableFromInline @inline(never)
    mutating func growRing() {
        ends = (0..<packetCount).map { ends[(head + $0) & (ends.count - 1)] } + Array(repeating: 0, count: ends.count)
        head = 0
    }
}
