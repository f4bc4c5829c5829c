import BluetoothUsers

/// The tokens of one user's calls that have not ended, and their slots: small indices for a table of calls.
///
/// A token contains its slot, because hashing it would cost more than the rest of a search. It is not reused, so a late
/// event finds no slot. Other users have the same tokens.
@usableFromInline
package struct CallSlots: Sendable {
    @usableFromInline
    struct Slot: Sendable {
        /// The number of the call; 0 if the slot is free.
        @usableFromInline var number: UInt64
        /// The next free slot, if this one is free and not the last one.
        @usableFromInline var nextFree: Int?

        @inlinable
        init(number: UInt64) { self.number = number }
    }

    @usableFromInline var slots: [Slot] = []
    @usableFromInline var firstFree: Int?
    @usableFromInline var lastNumber: UInt64 = 0

    @inlinable
    package init() {}

    /// Chooses the slot of a new call: a free one, or else the first unused index.
    @inlinable
    package mutating func add() -> (slot: Int, token: CallToken) {
        lastNumber &+= 1
        let slot = firstFree ?? slots.count
        if slot == slots.count {
            slots.append(Slot(number: lastNumber))
        } else {
            firstFree = slots[slot].nextFree
            slots[slot].number = lastNumber
        }
        return (slot, CallToken(rawValue: lastNumber << 32 | UInt64(slot &+ 1)))
    }

    /// The slot of a call; nil if the call has ended.
    @inlinable
    package func slot(of token: CallToken) -> Int? {
        let slot = Int(token.rawValue & 0xFFFF_FFFF) - 1
        guard slots.indices.contains(slot) else { return nil }
        let number = slots[slot].number
        return number != 0 && number << 32 == token.rawValue & ~0xFFFF_FFFF ? slot : nil
    }

    /// Frees the slot of a call.
    @inlinable
    package mutating func remove(_ slot: Int) {
        slots[slot].number = 0
        slots[slot].nextFree = firstFree
        firstFree = slot
    }

    /// The slots in use, in the order in which their calls were added.
    package var inOrder: [Int] {
        slots.indices.filter { slots[$0].number != 0 }.sorted { slots[$0].number < slots[$1].number }
    }
}
