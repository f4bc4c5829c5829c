import BluetoothATT
import BluetoothHost

/// The changes of a peer's services on one link, for detecting calls that were posted before their user knew about a
/// change.
struct ServiceChanges: Sendable {
    /// The number of changes.
    private(set) var count: UInt32 = 0
    /// The most recent changes, each with its number, starting at 1.
    private var recent: [(number: UInt32, handles: ClosedRange<AttributeHandle>)] = []

    /// The maximum number of separate entries. Beyond that, the oldest entries are merged.
    private static let capacity = 16

    mutating func add(_ handles: ClosedRange<AttributeHandle>) {
        count &+= 1
        recent.append((count, handles))
        guard recent.count > Self.capacity else { return }
        let first = recent.removeFirst().handles, second = recent[0].handles
        recent[0].handles =
            min(first.lowerBound, second.lowerBound)...max(first.upperBound, second.upperBound)
    }

    /// Whether a change after the first `known` ones affects the attributes of a call.
    @inline(__always)
    func contains(since known: UInt32, where concerns: (ClosedRange<AttributeHandle>) -> Bool) -> Bool {
        known != count && recent.contains { $0.number > known && concerns($0.handles) }
    }
}
