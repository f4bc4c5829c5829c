import BluetoothATT
import BluetoothBase

/// The writes that a client has queued with Prepare Write Requests, in order of arrival. A client has one queue, across
/// all its channels (Core 5.4, Vol 3, Part F, 3.4.6).
public struct GATTPreparedWrites: Equatable, Sendable {
    /// The limits on what one client may queue. Writes beyond them are refused with Prepare Queue Full.
    public struct Limits: Equatable, Sendable {
        /// The maximum number of writes.
        public var count: Int
        /// The maximum total length of the values, in octets.
        public var octets: Int

        /// By default, enough to write two values of maximum length at once with the minimum ATT_MTU.
        public init(count: Int = 64, octets: Int = 2048) {
            self.count = count
            self.octets = octets
        }
    }

    private struct Entry: Equatable, Sendable {
        var handle: AttributeHandle
        var offset: UInt16
        /// The end of the part within the octets of all parts.
        var end: Int
    }

    /// The limits on this queue, which never change.
    public let limits: Limits
    private var entries: [Entry] = []
    private var octets: [UInt8] = []

    /// Creates an empty queue.
    public init(limits: Limits = .init()) {
        self.limits = limits
    }

    /// The number of queued writes.
    public var count: Int { entries.count }

    /// The attribute to write, for a `position` from 0 up to, but not including, `count`.
    public func handle(at position: Int) -> AttributeHandle { entries[position].handle }

    /// The offset of the part in the attribute's value.
    public func offset(at position: Int) -> Int { Int(entries[position].offset) }

    /// The part of the value.
    @_lifetime(borrow self)
    public func value(at position: Int) -> Span<UInt8> {
        let start = position == 0 ? 0 : entries[position &- 1].end
        return octets.span.extracting(start..<entries[position].end)
    }

    /// Queues a write. Returns false if the queue is full.
    mutating func append(_ write: PrepareWriteRequest) -> Bool {
        guard entries.count < limits.count, octets.count &+ write.value.count <= limits.octets else { return false }
        write.value.withUnsafeBufferPointer { octets.append(contentsOf: $0) }
        entries.append(Entry(handle: write.handle, offset: write.offset, end: octets.count))
        return true
    }

    /// Removes and returns all writes.
    mutating func takeAll() -> GATTPreparedWrites {
        let taken = self
        self = GATTPreparedWrites(limits: limits)
        return taken
    }

    /// Removes all writes, keeping the memory.
    mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        octets.removeAll(keepingCapacity: true)
    }

    /// Removes the writes to some attributes.
    mutating func removeAll(in handles: ClosedRange<AttributeHandle>) {
        guard entries.contains(where: { handles.contains($0.handle) }) else { return }
        var kept = GATTPreparedWrites(limits: limits)
        for position in entries.indices where !handles.contains(entries[position].handle) {
            let write = PrepareWriteRequest(
                handle: entries[position].handle, offset: entries[position].offset, value: value(at: position))
            _ = kept.append(write)
        }
        self = kept
    }
}
