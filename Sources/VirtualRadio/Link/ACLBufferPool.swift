import BluetoothBase

/// The fixed buffers of a controller for data from its host that has not been sent on the air yet (Core 5.4, Vol 4,
/// Part E, 4.1).
///
/// One block of memory, divided into equal slots that form linked lists: one of the free slots, and one for each end of
/// a link (`ACLQueue`). Nothing is allocated after initialization.
struct ACLBufferPool: Sendable {
    /// The end of a list.
    static let none = -1

    private var bytes: [UInt8]
    private var lengths: [Int]
    private var continues: [Bool]
    private var next: [Int]
    private var firstFree: Int
    private let slotLength: Int

    init(count: Int, length: Int) {
        bytes = [UInt8](repeating: 0, count: count * length)
        lengths = [Int](repeating: 0, count: count)
        continues = [Bool](repeating: false, count: count)
        next = (0..<count).map { $0 + 1 < count ? $0 + 1 : Self.none }
        firstFree = count > 0 ? 0 : Self.none
        slotLength = length
    }

    /// Copies data to the end of a queue. Returns false if it is longer than a buffer, or no buffer is free.
    mutating func append(_ data: Span<UInt8>, isContinuation: Bool, to queue: inout ACLQueue) -> Bool {
        let slot = firstFree
        guard slot != Self.none, data.count <= slotLength else { return false }
        firstFree = next[slot]
        next[slot] = Self.none
        lengths[slot] = data.count
        continues[slot] = isContinuation
        let start = slot &* slotLength
        for index in 0..<data.count { bytes[start &+ index] = data[index] }
        if queue.first == Self.none { queue.first = slot } else { next[queue.last] = slot }
        queue.last = slot
        return true
    }

    /// The number of unsent octets in the first buffer of a queue.
    func remaining(in queue: ACLQueue) -> Int {
        queue.first == Self.none ? 0 : lengths[queue.first] &- queue.sent
    }

    /// Whether the next data of a queue continues an L2CAP frame rather than starting one.
    func isContinuation(in queue: ACLQueue) -> Bool {
        queue.first != Self.none && (continues[queue.first] || queue.sent > 0)
    }

    /// Appends the next `count` octets of a queue to `writer`.
    func copyFirst(_ count: Int, of queue: ACLQueue, into writer: inout ByteWriter) {
        guard queue.first != Self.none else { return }
        let start = queue.first &* slotLength &+ queue.sent
        writer.append(bytes.span.extracting(start..<(start &+ count)))
    }

    /// Marks `count` octets as sent. Returns true if that completes a buffer, which is then free again.
    mutating func consume(_ count: Int, of queue: inout ACLQueue) -> Bool {
        guard queue.first != Self.none else { return false }
        queue.sent &+= count
        guard queue.sent >= lengths[queue.first] else { return false }
        removeFirst(of: &queue)
        return true
    }

    /// Frees all buffers of a queue.
    mutating func removeAll(of queue: inout ACLQueue) {
        while queue.first != Self.none { removeFirst(of: &queue) }
    }

    private mutating func removeFirst(of queue: inout ACLQueue) {
        let slot = queue.first
        queue.first = next[slot]
        if queue.first == Self.none { queue.last = Self.none }
        queue.sent = 0
        next[slot] = firstFree
        firstFree = slot
    }
}

/// The pending buffers of one end of a link, as a list in that controller's `ACLBufferPool`.
struct ACLQueue: Sendable {
    fileprivate(set) var first = ACLBufferPool.none
    fileprivate(set) var last = ACLBufferPool.none
    /// The number of octets of the first buffer that have been sent.
    fileprivate(set) var sent = 0

    @inline(__always)
    var isEmpty: Bool { first == ACLBufferPool.none }
}
