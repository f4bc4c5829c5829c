/// The operations of a client that wait for their turn, in the order they were started. Appending an operation,
/// removing the first one and removing any other one take constant time.
///
/// A linked list in an array: an operation's identifier holds its place in the array.
struct OperationQueue: Sendable {
    private struct Entry: Sendable {
        var id: GATTClient.OperationID
        /// Nil if the place is free.
        var operation: GATTClientOperation?
        var previous: UInt16
        /// The next operation, or the next free place.
        var next: UInt16
    }

    /// Marks the end of a list. No place has this number.
    private static let none: UInt16 = 0xFFFF
    /// The maximum number of operations in a queue.
    static let maximumCapacity = Int(none)

    private(set) var count = 0
    private var entries: [Entry] = []
    private var first = Self.none
    private var last = Self.none
    private var free = Self.none

    var isEmpty: Bool { count == 0 }

    /// Adds an operation at the end and returns its identifier. The queue must hold fewer than `maximumCapacity`
    /// operations.
    mutating func append(
        _ operation: GATTClientOperation, on channel: AttributeChannel.ID, number: UInt32
    ) -> GATTClient.OperationID {
        let place = free == Self.none ? UInt16(truncatingIfNeeded: entries.count) : free
        let id = GATTClient.OperationID(channel: channel, place: place, number: number)
        let entry = Entry(id: id, operation: operation, previous: last, next: Self.none)
        if free == Self.none {
            entries.append(entry)
        } else {
            free = entries[Int(place)].next
            entries[Int(place)] = entry
        }
        if last == Self.none { first = place } else { entries[Int(last)].next = place }
        last = place
        count += 1
        return id
    }

    /// Removes and returns the operation that has waited longest.
    mutating func popFirst() -> (id: GATTClient.OperationID, operation: GATTClientOperation)? {
        guard first != Self.none else { return nil }
        let id = entries[Int(first)].id
        return take(first).map { (id, $0) }
    }

    /// Removes an operation. Returns nil if it is not in the queue.
    mutating func remove(_ id: GATTClient.OperationID) -> GATTClientOperation? {
        guard Int(id.place) < entries.count, entries[Int(id.place)].id == id else { return nil }
        return take(id.place)
    }

    private mutating func take(_ place: UInt16) -> GATTClientOperation? {
        guard let operation = entries[Int(place)].operation else { return nil }
        let previous = entries[Int(place)].previous, next = entries[Int(place)].next
        if previous == Self.none { first = next } else { entries[Int(previous)].next = next }
        if next == Self.none { last = previous } else { entries[Int(next)].previous = previous }
        entries[Int(place)].operation = nil
        entries[Int(place)].next = free
        free = place
        count -= 1
        return operation
    }
}
