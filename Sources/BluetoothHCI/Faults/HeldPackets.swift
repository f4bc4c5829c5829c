import BluetoothBase

/// Packets held until they are due, earliest first. Packets that are due at the same time keep their order. The number
/// of packets and octets is bounded: if too many are added, the earliest packet is released early.
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
    /// The time at which the earliest packet is due.
    var nextDeadline: Instant? { entries.first?.due }
    /// Whether adding a packet may release another one early.
    var isFull: Bool { entries.count >= Self.maximumCount || octets >= Self.maximumOctets }

    mutating func add(_ packet: [UInt8], to receiver: H4Framer.Receiver, due: Instant) {
        // Most packets are due last, so the search from the end is short.
        let index = entries.lastIndex { $0.due <= due }.map { $0 + 1 } ?? 0
        entries.insert(Held(due: due, receiver: receiver, packet: packet), at: index)
        octets += packet.count
    }

    /// Removes and returns the earliest packet, if it is due or the limits are exceeded.
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
