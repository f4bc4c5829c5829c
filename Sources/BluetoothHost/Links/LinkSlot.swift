/// The position of a link in a table. Slots are reused after their link has ended; a `LinkIdentifier` is not.
package struct LinkSlot: Hashable, Sendable {
    package let index: Int

    @inline(__always)
    package init(index: Int) { self.index = index }
}

/// The first `count` slots of a table.
package struct LinkSlots: RandomAccessCollection, Sendable {
    package let count: Int
    package var startIndex: Int { 0 }
    package var endIndex: Int { count }
    package subscript(position: Int) -> LinkSlot { LinkSlot(index: position) }

    package init(count: Int) { self.count = count }
}
