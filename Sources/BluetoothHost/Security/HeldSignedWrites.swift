import BluetoothATT
import BluetoothBase

/// Signed writes of one link that wait until their counters are stored. If they were processed earlier and the program
/// ended before the counter is stored, a counter could be used twice, or a write replayed.
struct HeldSignedWrites: Hashable, Sendable {
    /// A write from this host's client.
    struct Outgoing: Hashable, Sendable {
        let attribute: AttributeHandle
        let value: [UInt8]
    }

    /// A write from the peer, with a valid signature.
    struct Incoming: Hashable, Sendable {
        let pdu: [UInt8]
        let attribute: AttributeHandle
        /// The range of the value in the PDU.
        let value: Range<Int>
        let counter: UInt32
    }

    private var outgoing: [Outgoing] = []
    private var incoming: [Incoming] = []

    /// The maximum number of waiting writes in each direction. A server may drop commands that it has no room for (Core
    /// 5.4, Vol 3, Part F, 3.3.2).
    static let capacity = 32

    /// Holds a write. Returns false if there is no room.
    mutating func hold(_ write: Outgoing) -> Bool {
        guard outgoing.count < Self.capacity else { return false }
        outgoing.append(write)
        return true
    }

    /// Holds a write. Returns false if there is no room.
    mutating func hold(_ write: Incoming) -> Bool {
        guard incoming.count < Self.capacity else { return false }
        incoming.append(write)
        return true
    }

    mutating func takeOutgoing() -> [Outgoing] {
        defer { outgoing = [] }
        return outgoing
    }

    /// Removes and returns the writes whose counter is below the stored one.
    mutating func takeIncoming(below counter: UInt32) -> [Incoming] {
        let ready = incoming.prefix { $0.counter < counter }
        incoming.removeFirst(ready.count)
        return Array(ready)
    }
}
