import BluetoothBase

/// Scheduled actions, in a binary heap. Actions due at the same instant run in the order in which they were added.
struct TimedActions {
    private struct Entry {
        var due: Instant
        var number: UInt64
        var action: () -> Void

        func precedes(_ other: Entry) -> Bool { due == other.due ? number < other.number : due < other.due }
    }

    private var heap: [Entry] = []
    private var lastNumber: UInt64 = 0

    var nextDeadline: Instant? { heap.first?.due }

    mutating func add(_ action: @escaping () -> Void, at due: Instant) {
        lastNumber += 1
        heap.append(Entry(due: due, number: lastNumber, action: action))
        var child = heap.count - 1
        while child > 0, heap[child].precedes(heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func popFirst(at now: Instant) -> (() -> Void)? {
        guard let first = heap.first, first.due <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].precedes(heap[least])
            {
                least = child
            }
            guard least != parent else { break }
            heap.swapAt(least, parent)
            parent = least
        }
        return first.action
    }
}
