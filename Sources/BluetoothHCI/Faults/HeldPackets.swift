import BluetoothBase

/// Packets that wait for their time, earliest first, and in the order in which they came where that is the same. Their
/// number and their octets are bounded: whoever adds too many has the earliest go before its time.
struct HeldPackets: Sendable {
    private struct Held {
        var due: Instant
        var receiver: H4Framer.Receiver
        var packet: [UInt8]
    }

    static let maximumCount = 512
    static let maximumOctets = 1 << 18

    private var entries: [Held] = []
    private var octets = 0

    var isEmpty: Bool { entries.isEmpty }
    /// When the earliest is due.
    var nextDeadline: Instant? { entries.first?.due }
    /// Whether the next packet might have to push another one out.
    var isFull: Bool { entries.count >= Self.maximumCount || octets >= Self.maximumOctets }

    mutating func add(_ packet: [UInt8], to receiver: H4Framer.Receiver, due: Instant) {
        // Most are due last, so the search from the end is short.
        let index = entries.lastIndex { $0.due <= due }.map { $0 + 1 } ?? 0
        entries.insert(Held(due: due, receiver: receiver, packet: packet), at: index)
        octets += packet.count
    }

    /// Takes the earliest packet, if it is due or there is no room for it.
    mutating func popFirst(at now: Instant) -> (packet: [UInt8], receiver: H4Framer.Receiver)? {
        guard let first = entries.first, first.due <= now || isOverfull else { return nil }
        octets -= first.packet.count
        entries.removeFirst()
        return (first.packet, first.receiver)
    }

    private var isOverfull: Bool { entries.count > Self.maximumCount || octets > Self.maximumOctets }

    mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        octets = 0
    }
}
