import BluetoothHCI

/// The links of a host, each in its own slot. A packet finds its link with two array lookups.
///
/// A link is read and changed in place. It is a large value: copying it out of the table, as reading an optional
/// element would, costs more than everything else that is done for a packet.
struct LinkTable: Sendable {
    /// The links by slot. A free slot keeps its last link, no longer in use, until the next link takes its place.
    ///
    /// Read and change links in place, as `links.at[slot.index]`. This is the array itself, instead of a subscript of
    /// this type with `_read` and `_modify`, because Swift 6.3 uses the value that those yield after freeing it.
    var at: [Link] = []
    private var slotOfHandle: [UInt8]
    private var generation: UInt32 = 0
    private let capacity: Int

    private static let none: UInt8 = 0xFF

    init(capacity: Int) {
        self.capacity = min(capacity, Int(Self.none))
        slotOfHandle = Array(repeating: Self.none, count: 0x0F00)
    }

    /// All slots, in use or free.
    var slots: LinkSlots { LinkSlots(count: at.count) }

    /// The slots that hold a link.
    var used: some Sequence<LinkSlot> { slots.lazy.filter { at[$0.index].isInUse } }

    var isEmpty: Bool { !at.contains { $0.isInUse } }

    /// Whether a slot is available for another link.
    var hasRoom: Bool { at.count < capacity || at.contains { !$0.isInUse } }

    /// The slot of a link; nil if the link has ended.
    @inline(__always)
    func slot(of identifier: LinkIdentifier) -> LinkSlot? {
        let index = Int(identifier.slot)
        guard index < at.count, at[index].isInUse, at[index].identifier == identifier else { return nil }
        return LinkSlot(index: index)
    }

    /// The slot of the link with a connection handle.
    @inline(__always)
    func slot(of handle: ConnectionHandle) -> LinkSlot? {
        let index = Int(handle.rawValue)
        guard index < slotOfHandle.count else { return nil }
        let slot = slotOfHandle[index]
        return slot == Self.none ? nil : LinkSlot(index: Int(slot))
    }

    /// The first slot whose link satisfies a predicate.
    func firstSlot(where fits: (borrowing Link) -> Bool) -> LinkSlot? {
        slots.first { at[$0.index].isInUse && fits(at[$0.index]) }
    }

    /// Inserts a link into a free slot. Returns nil if no slot is free, or if the handle is invalid.
    ///
    /// - Parameter make: creates the link with the given identifier.
    mutating func insert(_ handle: ConnectionHandle, _ make: (LinkIdentifier) -> Link) -> LinkSlot? {
        let index = at.firstIndex { !$0.isInUse } ?? at.count
        guard handle.isValid, index < capacity else { return nil }
        generation &+= 1
        let link = make(LinkIdentifier(slot: UInt16(index), generation: generation))
        if index == at.count { at.append(link) } else { at[index] = link }
        slotOfHandle[Int(handle.rawValue)] = UInt8(index)
        return LinkSlot(index: index)
    }

    /// Removes and returns a link.
    mutating func remove(_ slot: LinkSlot) -> Link {
        slotOfHandle[Int(at[slot.index].handle.rawValue)] = Self.none
        let link = at[slot.index]
        at[slot.index].isInUse = false
        return link
    }
}
