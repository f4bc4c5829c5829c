import BluetoothBase

/// The owner of a deadline: an activity of one controller, or one link.
///
/// Packed into an integer so that the schedule can find a timer's place without hashing.
struct AirTimer: Equatable, Sendable {
    enum Concern: Int, Sendable {
        case advertising, command, link, advertisingSet, scan, periodic, sync
    }

    let rawValue: Int

    /// For `.link`, `index` is the index of the link. For `.advertisingSet`, `.periodic` and `.sync`, see
    /// `advertising(_:_:)`, `periodic(_:_:)` and `sync(_:_:)`. Otherwise it is the index of the controller.
    @inline(__always)
    init(_ concern: Concern, of index: Int) {
        rawValue = index << 3 | concern.rawValue
    }

    @inline(__always)
    init(rawValue: Int) {
        self.rawValue = rawValue
    }

    @inline(__always)
    var index: Int { rawValue >> 3 }

    @inline(__always)
    var concern: Concern {
        switch rawValue & 7 {
        case 0: .advertising
        case 1: .command
        case 2: .link
        case 3: .advertisingSet
        case 4: .scan
        case 5: .periodic
        default: .sync
        }
    }
}

/// The deadlines of every timer, earliest first: a binary heap that tracks the position of each timer, so that setting,
/// moving and clearing one takes logarithmic time.
///
/// Timers due at the same instant fire in the order of their raw values, which makes a simulation repeatable.
struct Schedule: Sendable {
    private struct Entry {
        var due: Instant
        var timer: AirTimer

        @inline(__always)
        func precedes(_ other: Entry) -> Bool {
            due == other.due ? timer.rawValue < other.timer.rawValue : due < other.due
        }
    }

    private var heap: [Entry] = []
    /// The position of each timer in the heap, by its raw value; -1 if it is not set.
    private var positions: [Int] = []

    /// The earliest deadline, if any is set.
    var nextDeadline: Instant? { heap.first?.due }

    /// Removes the earliest timer that is due at `now`, and returns it with its deadline.
    mutating func popFirst(at now: Instant) -> (timer: AirTimer, due: Instant)? {
        guard let first = heap.first, first.due <= now else { return nil }
        remove(first.timer)
        return (first.timer, first.due)
    }

    /// Sets, moves or, with nil, clears the deadline of a timer.
    mutating func set(_ timer: AirTimer, to due: Instant?) {
        guard let due else { return remove(timer) }
        while positions.count <= timer.rawValue { positions.append(-1) }
        let position = positions[timer.rawValue]
        let entry = Entry(due: due, timer: timer)
        if position < 0 {
            heap.append(entry)
            siftUp(from: heap.count - 1)
        } else {
            heap[position] = entry
            siftDown(from: siftUp(from: position))
        }
    }

    private mutating func remove(_ timer: AirTimer) {
        guard timer.rawValue < positions.count else { return }
        let position = positions[timer.rawValue]
        guard position >= 0 else { return }
        positions[timer.rawValue] = -1
        let last = heap.removeLast()
        guard position < heap.count else { return }
        heap[position] = last
        positions[last.timer.rawValue] = position
        siftDown(from: siftUp(from: position))
    }

    /// Moves an entry towards the front until its parent precedes it, and returns its position.
    @discardableResult
    private mutating func siftUp(from start: Int) -> Int {
        let entry = heap[start]
        var position = start
        while position > 0 {
            let parent = (position - 1) / 2
            guard entry.precedes(heap[parent]) else { break }
            place(heap[parent], at: position)
            position = parent
        }
        place(entry, at: position)
        return position
    }

    private mutating func siftDown(from start: Int) {
        let entry = heap[start]
        var position = start
        while true {
            var child = 2 * position + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].precedes(heap[child]) { child += 1 }
            guard heap[child].precedes(entry) else { break }
            place(heap[child], at: position)
            position = child
        }
        place(entry, at: position)
    }

    @inline(__always)
    private mutating func place(_ entry: Entry, at position: Int) {
        heap[position] = entry
        positions[entry.timer.rawValue] = position
    }
}
