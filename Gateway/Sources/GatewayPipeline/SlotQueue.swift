/// A queue of table slots, in the order in which they were appended. Each slot occurs at most once, and has a value.
/// Appending, finding and removing a slot take the same time regardless of the length.
struct SlotQueue<Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        var value: Value
        /// The neighbors in the queue; -1 at the ends.
        var previous: Int
        var next = -1
    }

    /// By slot; nil for slots that are not in the queue.
    private var entries: [Entry?] = []
    private var head = -1
    private var tail = -1
    private(set) var count = 0

    init() {}

    var first: (slot: Int, value: Value)? {
        guard head >= 0, let entry = entries[head] else { return nil }
        return (head, entry.value)
    }

    /// The value of a slot; nil if the slot is not in the queue.
    subscript(slot: Int) -> Value? { slot < entries.count ? entries[slot]?.value : nil }

    /// Appends a slot. A slot that is already in the queue keeps its place and its value.
    mutating func append(_ slot: Int, _ value: Value) {
        guard self[slot] == nil else { return }
        while entries.count <= slot { entries.append(nil) }
        entries[slot] = Entry(value: value, previous: tail)
        if tail >= 0 { entries[tail]?.next = slot } else { head = slot }
        tail = slot
        count += 1
    }

    /// Removes a slot, if it is in the queue.
    mutating func remove(_ slot: Int) {
        guard slot < entries.count, let entry = entries[slot] else { return }
        if entry.previous >= 0 { entries[entry.previous]?.next = entry.next } else { head = entry.next }
        if entry.next >= 0 { entries[entry.next]?.previous = entry.previous } else { tail = entry.previous }
        entries[slot] = nil
        count -= 1
    }
}
