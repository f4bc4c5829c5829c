import BluetoothATT
import BluetoothBase

/// Signed writes of one link that wait until the counters they use are stored. Used before that, a counter could be used twice
/// where the program ends in between, or a write be replayed.
struct HeldSignedWrites: Hashable, Sendable {
    /// A write of this host's client.
    struct Outgoing: Hashable, Sendable {
        let attribute: AttributeHandle
        let value: [UInt8]
    }

    /// A write of the peer, whose signature is right.
    struct Incoming: Hashable, Sendable {
        let pdu: [UInt8]
        let attribute: AttributeHandle
        /// Where in the PDU the value is.
        let value: Range<Int>
        let counter: UInt32
    }

    private var outgoing: [Outgoing] = []
    private var incoming: [Incoming] = []

    /// How many wait in each direction. A server may drop commands beyond what it has room for (Core 5.4, Vol 3, Part F, 3.3.2).
    static let capacity = 32

    /// False where there is no room.
    mutating func hold(_ write: Outgoing) -> Bool {
        guard outgoing.count < Self.capacity else { return false }
        outgoing.append(write)
        return true
    }

    /// False where there is no room.
    mutating func hold(_ write: Incoming) -> Bool {
        guard incoming.count < Self.capacity else { return false }
        incoming.append(write)
        return true
    }

    mutating func takeOutgoing() -> [Outgoing] {
        defer { outgoing = [] }
        return outgoing
    }

    /// Those whose counter is below the one that is stored.
    mutating func takeIncoming(below counter: UInt32) -> [Incoming] {
        let ready = incoming.prefix { $0.counter < counter }
        incoming.removeFirst(ready.count)
        return Array(ready)
    }
}
