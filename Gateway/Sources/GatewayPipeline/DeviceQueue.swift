import BluetoothBase

/// Slots of a table in order. A slot may have been given to another device since it was appended, so its key is kept, too.
struct DeviceQueue: Sendable {
    private var entries: [(slot: Int, key: DeviceAddress)] = []
    private var head = 0

    var count: Int { entries.count - head }
    var first: (slot: Int, key: DeviceAddress)? { head < entries.count ? entries[head] : nil }

    mutating func append(_ slot: Int, _ key: DeviceAddress) { entries.append((slot, key)) }

    mutating func removeFirst() {
        head += 1
        // What is behind costs a move of the rest only once for as many as were removed.
        guard head > 64, head * 2 > entries.count else { return }
        entries.removeFirst(head)
        head = 0
    }

    /// Removes what is void when there are more entries than so many.
    mutating func compact(above limit: Int, keeping isValid: (Int, DeviceAddress) -> Bool) {
        guard count > limit else { return }
        entries = entries[head...].filter { isValid($0.slot, $0.key) }
        head = 0
    }
}
