import BluetoothATT
import BluetoothHost

/// The changes of a peer's services on one link, for calls that were made before their user knew of them.
struct ServiceChanges: Sendable {
    /// How many there were.
    private(set) var count: UInt32 = 0
    /// The last ones, each with its number, from 1.
    private var recent: [(number: UInt32, handles: ClosedRange<AttributeHandle>)] = []

    /// How many are kept apart. Of more, the oldest ones count as one.
    private static let capacity = 16

    mutating func add(_ handles: ClosedRange<AttributeHandle>) {
        count &+= 1
        recent.append((count, handles))
        guard recent.count > Self.capacity else { return }
        let first = recent.removeFirst().handles, second = recent[0].handles
        recent[0].handles =
            min(first.lowerBound, second.lowerBound)...max(first.upperBound, second.upperBound)
    }

    /// Whether one after the first `known` ones concerns what was called for.
    @inline(__always)
    func contains(since known: UInt32, where concerns: (ClosedRange<AttributeHandle>) -> Bool) -> Bool {
        known != count && recent.contains { $0.number > known && concerns($0.handles) }
    }
}
