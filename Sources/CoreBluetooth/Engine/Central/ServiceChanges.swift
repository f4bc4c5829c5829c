import BluetoothATT

/// The changes of a peer's services on one link, for what was called for before the application knew of them.
struct ServiceChanges {
    /// How many there were.
    private var count = 0
    /// How many of them the application was told of.
    var told = 0
    /// The last ones, each with its number, from 1.
    private var recent: [(number: Int, handles: ClosedRange<AttributeHandle>)] = []

    /// How many are kept apart. Of more, the oldest ones count as one.
    private static let capacity = 16

    mutating func add(_ handles: ClosedRange<AttributeHandle>) {
        count += 1
        recent.append((count, handles))
        guard recent.count > Self.capacity else { return }
        let first = recent.removeFirst().handles, second = recent[0].handles
        recent[0].handles =
            min(first.lowerBound, second.lowerBound)...max(first.upperBound, second.upperBound)
    }

    /// Whether there was one in these handles after the first `known` ones.
    func concern(_ handles: ClosedRange<AttributeHandle>, since known: Int) -> Bool {
        recent.contains { $0.number > known && $0.handles.overlaps(handles) }
    }
}
