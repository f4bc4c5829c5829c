/// A first-in, first-out queue of packets laid end to end in one buffer.
///
/// A packet is written in place: append to `writer`, then `commit()` it as one packet or `rollback()`. The buffer is
/// reused once the queue has been drained, so a steady state allocates nothing. Packet boundaries are kept, because
/// kernel packet sockets take one packet for one write.
public struct PacketQueue: Sendable {
    /// Where the packet being written goes. Only append to it, or overwrite at offsets from `openOffset` on.
    public var writer: ByteWriter
    @usableFromInline var ends: [Int] = []
    @usableFromInline var head = 0

    public init(reservingCapacity capacity: Int = 4096) {
        writer = ByteWriter(reservingCapacity: capacity)
        ends.reserveCapacity(64)
    }

    @inlinable public var isEmpty: Bool { head == ends.count }

    /// How many packets wait.
    @inlinable public var count: Int { ends.count &- head }

    /// The offset in `writer` of the first byte of the packet being written.
    @inlinable @inline(__always)
    public var openOffset: Int { ends.last ?? 0 }

    /// Ends the packet being written. An empty one is forgotten.
    @inlinable @inline(__always)
    public mutating func commit() {
        if writer.count > openOffset { ends.append(writer.count) }
    }

    /// Forgets the packet being written.
    @inlinable
    public mutating func rollback() {
        writer.truncate(to: openOffset)
    }

    /// Appends a whole packet.
    @inlinable
    public mutating func append(_ packet: Span<UInt8>) {
        writer.append(packet)
        commit()
    }

    /// The bytes of the oldest packet, empty when there is none.
    @inlinable
    public var first: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            guard head < ends.count else { return writer.bytes.span.extracting(0..<0) }
            let start = head == 0 ? 0 : ends[head &- 1]
            return writer.bytes.span.extracting(start..<ends[head])
        }
    }

    /// Forgets the oldest packet.
    @inlinable
    public mutating func removeFirst() {
        guard head < ends.count else { return }
        head &+= 1
        if head == ends.count, writer.count == ends[head &- 1] {
            removeAll()
        } else if head >= 64, head &* 2 >= ends.count, writer.count == openOffset {
            compact()
        }
    }

    /// Gives the memory of packets taken out back to those to come: a queue that is never quite empty must not grow for
    /// ever. Every packet is moved once at most for each that has left before it.
    @usableFromInline
    mutating func compact() {
        let start = ends[head &- 1]
        writer.bytes.removeSubrange(..<start)
        ends.removeSubrange(..<head)
        for index in ends.indices { ends[index] &-= start }
        head = 0
    }

    /// Forgets every packet, keeping the memory.
    @inlinable
    public mutating func removeAll() {
        writer.removeAll()
        ends.removeAll(keepingCapacity: true)
        head = 0
    }

    /// Takes the oldest packet out as an array: for tests and places where a copy does not matter.
    public mutating func popFirst() -> [UInt8]? {
        guard !isEmpty else { return nil }
        let packet = Array(first)
        removeFirst()
        return packet
    }
}
