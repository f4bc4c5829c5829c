import BluetoothATT
import BluetoothBase

/// The writes a client has queued with Prepare Write Requests, in the order they came. A client has one queue, over all
/// its channels (Core 5.4, Vol 3, Part F, 3.4.6).
public struct GATTPreparedWrites: Equatable, Sendable {
    /// How much one client may queue. Writes beyond it are refused with Prepare Queue Full.
    public struct Limits: Equatable, Sendable {
        /// How many writes.
        public var count: Int
        /// How many octets of values in all.
        public var octets: Int

        /// By default enough to write two values of the greatest length at once, at the smallest ATT_MTU.
        public init(count: Int = 64, octets: Int = 2048) {
            self.count = count
            self.octets = octets
        }
    }

    private struct Entry: Equatable, Sendable {
        var handle: AttributeHandle
        var offset: UInt16
        /// Where the part ends among the octets of all parts.
        var end: Int
    }

    public let limits: Limits
    private var entries: [Entry] = []
    private var octets: [UInt8] = []

    public init(limits: Limits = .init()) {
        self.limits = limits
    }

    /// How many writes are queued.
    public var count: Int { entries.count }

    /// The attribute to be written; `position` counts from 0 to `count`.
    public func handle(at position: Int) -> AttributeHandle { entries[position].handle }

    /// Where in the attribute's value the part goes.
    public func offset(at position: Int) -> Int { Int(entries[position].offset) }

    /// The part of the value.
    @_lifetime(borrow self)
    public func value(at position: Int) -> Span<UInt8> {
        let start = position == 0 ? 0 : entries[position &- 1].end
        return octets.span.extracting(start..<entries[position].end)
    }

    /// Queues a write; false if the queue is full.
    mutating func append(_ write: PrepareWriteRequest) -> Bool {
        guard entries.count < limits.count, octets.count &+ write.value.count <= limits.octets else { return false }
        write.value.withUnsafeBufferPointer { octets.append(contentsOf: $0) }
        entries.append(Entry(handle: write.handle, offset: write.offset, end: octets.count))
        return true
    }

    /// Takes all writes out.
    mutating func takeAll() -> GATTPreparedWrites {
        let taken = self
        self = GATTPreparedWrites(limits: limits)
        return taken
    }

    /// Forgets all writes, keeping the memory.
    mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        octets.removeAll(keepingCapacity: true)
    }

    /// Forgets the writes to some attributes.
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
