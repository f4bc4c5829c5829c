import BluetoothATT
import BluetoothGATT

/// A peer's subscriptions to this device's values, sorted by value handle. One is looked up for each value that is
/// sent, and hashing its handle would take longer than finding it.
package struct PeerSubscriptions: Sendable {
    /// The subscriptions, none of them empty.
    package private(set) var all: [(handle: AttributeHandle, configuration: GATTClientConfiguration)] = []

    package init() {}

    /// The subscription to a value. Empty if there is none; setting an empty one removes it.
    package subscript(handle: AttributeHandle) -> GATTClientConfiguration {
        get {
            let index = firstIndex(from: handle)
            return index < all.count && all[index].handle == handle ? all[index].configuration : []
        }
        set {
            let index = firstIndex(from: handle)
            if index < all.count, all[index].handle == handle { all.remove(at: index) }
            if !newValue.isEmpty { all.insert((handle, newValue), at: index) }
        }
    }

    /// Removes the subscriptions to the values in some handles.
    package mutating func remove(in handles: ClosedRange<AttributeHandle>) {
        all.removeAll { handles.contains($0.handle) }
    }

    /// The index of the first subscription from a handle on.
    private func firstIndex(from handle: AttributeHandle) -> Int {
        var start = 0, end = all.count
        while start < end {
            let middle = (start &+ end) / 2
            if all[middle].handle < handle { start = middle &+ 1 } else { end = middle }
        }
        return start
    }
}
