import BluetoothATT

/// The indications that wait for the previous one to be confirmed (Core 5.4, Vol 3, Part F, 3.4.7.2).
struct IndicationQueue: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        let call: UserCall
        let handle: AttributeHandle
        let value: [UInt8]
        /// Whether the indication took a credit, which is returned when it is confirmed.
        let tookCredit: Bool
    }

    private var entries: [Entry] = []
    private var head = 0
    /// Whether the first indication has been sent.
    private(set) var isFirstSent = false

    /// The maximum number of indications per link.
    static let capacity = 4096

    var first: Entry? { head < entries.count ? entries[head] : nil }
    var isFull: Bool { entries.count - head >= Self.capacity }
    var all: ArraySlice<Entry> { entries[head...] }

    mutating func append(_ entry: Entry) { entries.append(entry) }

    /// The first indication has been sent. It waits for its confirmation.
    mutating func firstSent() { isFirstSent = true }

    mutating func removeFirst() {
        isFirstSent = false
        head += 1
        guard head == entries.count || head > 64 else { return }
        entries.removeFirst(head)
        head = 0
    }

    /// Removes matching indications that have not been sent. If the first one was sent, its confirmation is still
    /// awaited.
    mutating func remove(where isMeant: (Entry) -> Bool) -> [Entry] {
        let keepsFirst = isFirstSent
        var removed: [Entry] = []
        var index = head + (keepsFirst ? 1 : 0)
        while index < entries.count {
            if isMeant(entries[index]) { removed.append(entries.remove(at: index)) } else { index += 1 }
        }
        if keepsFirst, let first, isMeant(first) {
            removed.insert(first, at: 0)
            entries[head] = Entry(
                call: UserCall(user: first.call.user, token: .none), handle: first.handle, value: [],
                tookCredit: first.tookCredit)
        }
        return removed
    }
}
