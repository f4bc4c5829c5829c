import BluetoothBase

/// The objects that stand for peers, as long as the application holds them.
struct WeakTable<Object: AnyObject> {
    private struct Entry {
        weak var object: Object?
    }

    private var entries: [PeerID: Entry] = [:]

    /// Those that are still held.
    var objects: [Object] { entries.values.compactMap(\.object) }

    subscript(peer: PeerID) -> Object? {
        get { entries[peer]?.object }
        set {
            // Those that are gone are forgotten now and then.
            if entries.count.nonzeroBitCount == 1 { entries = entries.filter { $0.value.object != nil } }
            entries[peer] = newValue.map { Entry(object: $0) }
        }
    }
}
