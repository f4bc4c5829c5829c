import BluetoothBase

/// A bounded table of values, keyed by device address and, optionally, advertising set. When it is full, it evicts the
/// least recently used value.
///
/// Values are stored in slots, which are found by open addressing and linked from newest to oldest. Touching a value or
/// changing it in place does not allocate. Memory grows by doubling as values are inserted, so inserting takes
/// amortized constant time.
@usableFromInline
package struct AddressTable<Value: Sendable>: Sendable {
    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline var address: DeviceAddress
        @usableFromInline var set: UInt8
        @usableFromInline var newer: Int?
        @usableFromInline var older: Int?

        @inlinable
        init(address: DeviceAddress, set: UInt8) {
            self.address = address
            self.set = set
        }

        @inlinable @inline(__always)
        func isOf(_ address: DeviceAddress, _ set: UInt8) -> Bool { self.address == address && self.set == set }
    }

    @usableFromInline package let capacity: Int
    @usableFromInline package internal(set) var count = 0
    /// The slot of the most recently used value.
    @usableFromInline package internal(set) var newest: Int?
    /// The slot of the least recently used value.
    @usableFromInline package internal(set) var oldest: Int?
    @usableFromInline var entries: [Entry] = []
    /// The value in each slot. Values are stored apart from the entries, so that a search does not touch their memory.
    /// Free slots keep their last value until they are reused.
    @usableFromInline var values: [Value] = []
    @usableFromInline var freeSlots: [Int] = []
    /// Slots by hash; -1 marks a gap. Its size is a power of two and it is at most half full, so that a search soon
    /// reaches a gap.
    @usableFromInline var index: [Int32]
    /// Determines the order of the index. The standard library seeds hashing randomly in each process.
    @usableFromInline let seed = UInt64(truncatingIfNeeded: 0.hashValue)

    @inlinable
    package init(capacity: Int) {
        self.capacity = min(max(1, capacity), 1 << 20)
        index = Array(repeating: -1, count: 16)
    }

    /// Accesses the value in a slot that is in use.
    @inlinable
    package subscript(slot: Int) -> Value {
        get { values[slot] }
        _modify { yield &values[slot] }
    }

    /// Returns the address of the value in a slot that is in use.
    package func address(of slot: Int) -> DeviceAddress { entries[slot].address }

    /// The slots in use, most recently used first.
    @inlinable
    package var newestFirst: [Int] {
        var slots: [Int] = []
        slots.reserveCapacity(count)
        var next = newest
        while let slot = next {
            slots.append(slot)
            next = entries[slot].older
        }
        return slots
    }

    /// Returns the slot of an address, or nil if the table does not contain it.
    @inlinable
    package func slot(of address: DeviceAddress, set: UInt8 = 0xFF) -> Int? {
        let slot = index[position(of: address, set)]
        return slot < 0 ? nil : Int(slot)
    }

    /// Marks a value as the most recently used.
    @inlinable
    package mutating func touch(_ slot: Int) {
        guard slot != newest else { return }
        unlink(slot)
        linkAsNewest(slot)
    }

    /// Stores a value for an address that the table does not contain. If the table is full, this replaces the least
    /// recently used value.
    @inlinable
    package mutating func insert(_ value: Value, for address: DeviceAddress, set: UInt8 = 0xFF) -> Int {
        if count == capacity, let oldest { remove(oldest) }
        if 2 * (count + 1) > index.count { growIndex() }
        return insert(value, for: address, set, at: position(of: address, set))
    }

    /// Returns the slot of an address. If the table does not contain the address, this stores a value for it, as
    /// `insert` does.
    @inlinable
    package mutating func slot(of address: DeviceAddress, set: UInt8 = 0xFF, orInsert value: Value) -> Int {
        let position = position(of: address, set)
        if index[position] >= 0 { return Int(index[position]) }
        guard count < capacity, 2 * (count + 1) <= index.count else { return insert(value, for: address, set: set) }
        return insert(value, for: address, set, at: position)
    }

    /// Stores a value at a gap in the index. The table must have room.
    @inlinable
    mutating func insert(_ value: Value, for address: DeviceAddress, _ set: UInt8, at position: Int) -> Int {
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
        index[position] = Int32(truncatingIfNeeded: slot)
        linkAsNewest(slot)
        count += 1
        return slot
    }

    /// Removes the value in a slot that is in use.
    @inlinable
    package mutating func remove(_ slot: Int) {
        remove(at: position(of: entries[slot].address, entries[slot].set))
    }

    /// Removes the value of an address, if the table contains it.
    @inlinable
    package mutating func removeValue(of address: DeviceAddress, set: UInt8 = 0xFF) {
        let position = position(of: address, set)
        if index[position] >= 0 { remove(at: position) }
    }

    /// Removes the value whose slot is at this position of the index.
    @inlinable
    mutating func remove(at position: Int) {
        let slot = Int(index[position])
        removeFromIndex(at: position)
        unlink(slot)
        freeSlots.append(slot)
        count -= 1
    }

    @inlinable
    package mutating func removeAll() {
        self = AddressTable(capacity: capacity)
    }
}

// MARK: - Order

extension AddressTable {
    @inlinable
    mutating func linkAsNewest(_ slot: Int) {
        entries[slot].newer = nil
        entries[slot].older = newest
        if let newest { entries[newest].newer = slot } else { oldest = slot }
        newest = slot
    }

    @inlinable
    mutating func unlink(_ slot: Int) {
        let newer = entries[slot].newer, older = entries[slot].older
        if let newer { entries[newer].older = older } else { newest = older }
        if let older { entries[older].newer = newer } else { oldest = newer }
    }
}

// MARK: - Index

extension AddressTable {
    /// Returns the position at which the search for an address starts. The seed differs between processes, so a device
    /// can't choose addresses whose searches all start at the same position. No result depends on the seed.
    @inlinable @inline(__always)
    func home(of address: DeviceAddress, _ set: UInt8) -> Int {
        let key = address.value | UInt64(address.kind.rawValue) << 48 | UInt64(set) << 56
        let product = (key ^ seed).multipliedFullWidth(by: seed | 1)
        return Int(truncatingIfNeeded: product.high ^ product.low) & (index.count - 1)
    }

    /// Returns the position in the index at which an address is, or would be, stored.
    @inlinable
    func position(of address: DeviceAddress, _ set: UInt8) -> Int {
        let mask = index.count - 1
        var position = home(of: address, set)
        while index[position] >= 0, !entries[Int(index[position])].isOf(address, set) {
            position = (position + 1) & mask
        }
        return position
    }

    /// Doubles the index.
    @inlinable
    mutating func growIndex() {
        index = Array(repeating: -1, count: 2 * index.count)
        let mask = index.count - 1
        var next = newest
        while let slot = next {
            // The addresses differ, so that the first gap is the place of the entry.
            var position = home(of: entries[slot].address, entries[slot].set)
            while index[position] >= 0 { position = (position + 1) & mask }
            index[position] = Int32(truncatingIfNeeded: slot)
            next = entries[slot].older
        }
    }

    /// Removes an entry from the index, and moves up the following entries that a search would not find across the gap.
    @inlinable
    mutating func removeFromIndex(at position: Int) {
        let mask = index.count - 1
        var gap = position
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
