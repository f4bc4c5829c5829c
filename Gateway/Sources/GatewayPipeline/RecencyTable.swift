/// A table of bounded size that keeps its entries in the order of use, so that the least recently used one can make
/// room. Finding, using and removing an entry take the same time regardless of the size.
struct RecencyTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Slot: Sendable {
        var key: Key
        var value: Value
        /// The neighbors in the order of use; -1 at the ends.
        var newer = -1
        var older = -1
    }

    let capacity: Int
    private var slots: [Slot] = []
    private var free: [Int] = []
    private var index: [Key: Int] = [:]
    private var newest = -1
    private var oldest = -1

    init(capacity: Int) { self.capacity = max(capacity, 1) }

    var count: Int { index.count }
    var isFull: Bool { count >= capacity }
    /// The slot of the least recently used entry.
    var oldestSlot: Int? { oldest < 0 ? nil : oldest }

    func key(at slot: Int) -> Key { slots[slot].key }

    subscript(slot: Int) -> Value {
        get { slots[slot].value }
        _modify { yield &slots[slot].value }
    }

    func contains(_ key: Key) -> Bool { index[key] != nil }

    /// Returns the slot of a key, and makes it the most recently used one.
    mutating func use(_ key: Key) -> Int? {
        guard let slot = index[key] else { return nil }
        if slot != newest {
            unlink(slot)
            linkAsNewest(slot)
        }
        return slot
    }

    /// Adds a key that is not in the table, as the most recently used one.
    ///
    /// - Precondition: the table is not full.
    mutating func insert(_ key: Key, _ value: Value) -> Int {
        precondition(!isFull && index[key] == nil)
        let slot: Int
        if let reused = free.popLast() {
            slot = reused
            slots[slot] = Slot(key: key, value: value)
        } else {
            slot = slots.count
            slots.append(Slot(key: key, value: value))
        }
        index[key] = slot
        linkAsNewest(slot)
        return slot
    }

    /// Removes the entry in a slot.
    mutating func remove(_ slot: Int) {
        unlink(slot)
        index[slots[slot].key] = nil
        free.append(slot)
    }

    private mutating func linkAsNewest(_ slot: Int) {
        slots[slot].older = newest
        slots[slot].newer = -1
        if newest >= 0 { slots[newest].newer = slot } else { oldest = slot }
        newest = slot
    }

    private mutating func unlink(_ slot: Int) {
        let (newer, older) = (slots[slot].newer, slots[slot].older)
        if newer >= 0 { slots[newer].older = older } else { newest = older }
        if older >= 0 { slots[older].newer = newer } else { oldest = newer }
    }
}
