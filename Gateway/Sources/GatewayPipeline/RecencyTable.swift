/// A table of bounded size that forgets what was not used for longest. Finding, using and forgetting cost the same however
/// full it is.
struct RecencyTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Slot: Sendable {
        var key: Key
        var value: Value
        /// The neighbours in the order of use; -1 beyond the ends.
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
    /// The slot that was not used for longest.
    var oldestSlot: Int? { oldest < 0 ? nil : oldest }

    func key(at slot: Int) -> Key { slots[slot].key }

    subscript(slot: Int) -> Value {
        get { slots[slot].value }
        _modify { yield &slots[slot].value }
    }

    func contains(_ key: Key) -> Bool { index[key] != nil }

    /// Where a key is; it becomes the newest.
    mutating func use(_ key: Key) -> Int? {
        guard let slot = index[key] else { return nil }
        if slot != newest {
            unlink(slot)
            linkAsNewest(slot)
        }
        return slot
    }

    /// Adds a key that is not there, as the newest.
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

    /// Forgets what is in a slot.
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
