/// Where a link stands in a table. A slot is used again once its link is gone; a `LinkIdentifier` is not.
package struct LinkSlot: Hashable, Sendable {
    package let index: Int

    @inline(__always)
    package init(index: Int) { self.index = index }
}

/// The first slots of a table.
package struct LinkSlots: RandomAccessCollection, Sendable {
    package let count: Int
    package var startIndex: Int { 0 }
    package var endIndex: Int { count }
    package subscript(position: Int) -> LinkSlot { LinkSlot(index: position) }

    package init(count: Int) { self.count = count }
}
