import BluetoothBase

/// A bounded table of values by device address, which keeps the order in which they were last used and evicts the
/// oldest when it is full.
///
/// Values live in slots, found by open addressing and linked from newest to oldest. Using a value or changing it in
/// place allocates nothing. Addresses chosen to collide turn a lookup into a walk over the table, but its size is
/// bounded.
struct AddressTable<Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        var address: DeviceAddress
        var value: Value
        var newer: Int?
        var older: Int?
    }

    let capacity: Int
    private(set) var count = 0
    /// The slot of the value used last.
    private(set) var newest: Int?
    /// The slot of the value not used for longest.
    private(set) var oldest: Int?
    /// Free slots keep their last value until they are reused.
    private var entries: [Entry] = []
    private var freeSlots: [Int] = []
    /// Slots by hash, -1 if there is none; at most half full, so that a search soon finds a gap.
    private var index: [Int]
    private let hashShift: UInt64

    init(capacity: Int) {
        self.capacity = min(max(1, capacity), 1 << 20)
        var bits: UInt64 = 1
        while 1 << bits < 2 * self.capacity { bits += 1 }
        index = Array(repeating: -1, count: 1 << bits)
        hashShift = 64 - bits
    }

    /// The value in a slot that is in use.
    subscript(slot: Int) -> Value {
        get { entries[slot].value }
        _modify { yield &entries[slot].value }
    }

    /// The slots in use, the most recently used first.
    var newestFirst: [Int] {
        var slots: [Int] = []
        slots.reserveCapacity(count)
        var next = newest
        while let slot = next {
            slots.append(slot)
            next = entries[slot].older
        }
        return slots
    }

    /// The slot of an address; nil if it has none.
    func slot(of address: DeviceAddress) -> Int? {
        let slot = index[position(of: address)]
        return slot < 0 ? nil : slot
    }

    /// Makes a value the newest.
    mutating func touch(_ slot: Int) {
        guard slot != newest else { return }
        unlink(slot)
        linkAsNewest(slot)
    }

    /// Stores a value for an address that has none. If the table is full, it replaces the oldest value.
    mutating func insert(_ value: Value, for address: DeviceAddress) -> Int {
        if count == capacity, let oldest { remove(oldest) }
        let entry = Entry(address: address, value: value)
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
            entries[slot] = entry
        } else {
            slot = entries.count
            entries.append(entry)
        }
        index[position(of: address)] = slot
        linkAsNewest(slot)
        count += 1
        return slot
    }

    /// Removes the value in a slot that is in use.
    mutating func remove(_ slot: Int) {
        removeFromIndex(entries[slot].address)
        unlink(slot)
        freeSlots.append(slot)
        count -= 1
    }

    mutating func removeAll() {
        self = AddressTable(capacity: capacity)
    }
}

// MARK: - Order

extension AddressTable {
    private mutating func linkAsNewest(_ slot: Int) {
        entries[slot].newer = nil
        entries[slot].older = newest
        if let newest { entries[newest].newer = slot } else { oldest = slot }
        newest = slot
    }

    private mutating func unlink(_ slot: Int) {
        let newer = entries[slot].newer, older = entries[slot].older
        if let newer { entries[newer].older = older } else { newest = older }
        if let older { entries[older].newer = newer } else { oldest = newer }
    }
}

// MARK: - Index

extension AddressTable {
    /// Where the search for an address starts: its bits, spread by a multiplication with 2^64 divided by the golden ratio.
    private func home(of address: DeviceAddress) -> Int {
        let key = address.value | UInt64(address.kind.rawValue) << 48
        return Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> hashShift)
    }

    /// Where in the index an address is, or would be.
    private func position(of address: DeviceAddress) -> Int {
        let mask = index.count - 1
        var position = home(of: address)
        while index[position] >= 0, entries[index[position]].address != address {
            position = (position + 1) & mask
        }
        return position
    }

    /// Removes an address, and moves up the following ones that would not be found across the gap.
    private mutating func removeFromIndex(_ address: DeviceAddress) {
        let mask = index.count - 1
        var gap = position(of: address)
        var next = (gap + 1) & mask
        while index[next] >= 0 {
            let home = home(of: entries[index[next]].address)
            if (next - home) & mask >= (next - gap) & mask {
                index[gap] = index[next]
                gap = next
            }
            next = (next + 1) & mask
        }
        index[gap] = -1
    }
}
