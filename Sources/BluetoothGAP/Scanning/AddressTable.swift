import BluetoothBase

/// A bounded table of values by device address and, where that matters, advertising set, which keeps the order in which they were last used and evicts the
/// oldest when it is full.
///
/// Values live in slots, found by open addressing and linked from newest to oldest. Touching a value or changing it in
/// place allocates nothing. Memory grows by doubling with the values there are, so that inserting costs the same on
/// average however many there are.
struct AddressTable<Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        var address: DeviceAddress
        var set: UInt8
        var newer: Int?
        var older: Int?

        @inline(__always)
        func isOf(_ address: DeviceAddress, _ set: UInt8) -> Bool { self.address == address && self.set == set }
    }

    let capacity: Int
    private(set) var count = 0
    /// The slot of the value used last.
    private(set) var newest: Int?
    /// The slot of the value not used for longest.
    private(set) var oldest: Int?
    private var entries: [Entry] = []
    /// The value in each slot, apart from the entries, so that a search does not touch them. Free slots keep their last
    /// value until they are reused.
    private var values: [Value] = []
    private var freeSlots: [Int] = []
    /// Slots by hash, -1 where there is none. A power of two of them, at most half full, so that a search soon meets a gap.
    private var index: [Int32]

    init(capacity: Int) {
        self.capacity = min(max(1, capacity), 1 << 20)
        index = Array(repeating: -1, count: 16)
    }

    /// The value in a slot that is in use.
    subscript(slot: Int) -> Value {
        get { values[slot] }
        _modify { yield &values[slot] }
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
    func slot(of address: DeviceAddress, set: UInt8 = 0xFF) -> Int? {
        let slot = index[position(of: address, set)]
        return slot < 0 ? nil : Int(slot)
    }

    /// Makes a value the newest.
    mutating func touch(_ slot: Int) {
        guard slot != newest else { return }
        unlink(slot)
        linkAsNewest(slot)
    }

    /// Stores a value for an address that has none. If the table is full, it replaces the oldest value.
    mutating func insert(_ value: Value, for address: DeviceAddress, set: UInt8 = 0xFF) -> Int {
        if count == capacity, let oldest { remove(oldest) }
        if 2 * (count + 1) > index.count { growIndex() }
        let entry = Entry(address: address, set: set)
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
            entries[slot] = entry
            values[slot] = value
        } else {
            slot = entries.count
            entries.append(entry)
            values.append(value)
        }
        index[position(of: address, set)] = Int32(truncatingIfNeeded: slot)
        linkAsNewest(slot)
        count += 1
        return slot
    }

    /// Removes the value in a slot that is in use.
    mutating func remove(_ slot: Int) {
        removeFromIndex(entries[slot].address, entries[slot].set)
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
    /// Where the search for an address starts. The standard library's hash has a seed of its own in every process, so that
    /// nobody can choose addresses that all start at the same place; no result depends on it.
    private func home(of address: DeviceAddress, _ set: UInt8) -> Int {
        let key = address.value | UInt64(address.kind.rawValue) << 48 | UInt64(set) << 56
        return key.hashValue & (index.count - 1)
    }

    /// Where in the index an address is, or would be.
    private func position(of address: DeviceAddress, _ set: UInt8) -> Int {
        let mask = index.count - 1
        var position = home(of: address, set)
        while index[position] >= 0, !entries[Int(index[position])].isOf(address, set) {
            position = (position + 1) & mask
        }
        return position
    }

    /// Doubles the index.
    private mutating func growIndex() {
        index = Array(repeating: -1, count: 2 * index.count)
        var next = newest
        while let slot = next {
            index[position(of: entries[slot].address, entries[slot].set)] = Int32(truncatingIfNeeded: slot)
            next = entries[slot].older
        }
    }

    /// Takes an address out, and moves up those behind it that would not be found across the gap.
    private mutating func removeFromIndex(_ address: DeviceAddress, _ set: UInt8) {
        let mask = index.count - 1
        var gap = position(of: address, set)
        var next = (gap + 1) & mask
        while index[next] >= 0 {
            let entry = entries[Int(index[next])]
            let home = home(of: entry.address, entry.set)
            if (next - home) & mask >= (next - gap) & mask {
                index[gap] = index[next]
                gap = next
            }
            next = (next + 1) & mask
        }
        index[gap] = -1
    }
}
