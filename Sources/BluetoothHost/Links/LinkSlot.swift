/// The position of a link in a table. Slots are reused after their link has ended; a `LinkIdentifier` is not.
package struct LinkSlot: Hashable, Sendable {
    package let index: Int

    @inlinable @inline(__always)
    package init(index: Int) { self.index = index }
}

/// The first `count` slots of a table.
package struct LinkSlots: RandomAccessCollection, Sendable {
    // Inlinable: each turn iterates over the slots, and other modules would call every member through a witness table.
    package let count: Int
    @inlinable package var startIndex: Int { 0 }
    @inlinable package var endIndex: Int { count }
    @inlinable package subscript(position: Int) -> LinkSlot { LinkSlot(index: position) }

    @inlinable
    package init(count: Int) { self.count = count }
}
