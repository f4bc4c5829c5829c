import BluetoothBase

/// The objects for peers, as long as the application holds them.
struct WeakTable<Object: AnyObject> {
    private struct Entry {
        weak var object: Object?
    }

    private var entries: [PeerID: Entry] = [:]

    /// The objects that are still held.
    var objects: [Object] { entries.values.compactMap(\.object) }

    subscript(peer: PeerID) -> Object? {
        get { entries[peer]?.object }
        set {
            // Entries without an object are removed whenever the count is a power of two.
            if entries.count.nonzeroBitCount == 1 { entries = entries.filter { $0.value.object != nil } }
            entries[peer] = newValue.map { Entry(object: $0) }
        }
    }
}
