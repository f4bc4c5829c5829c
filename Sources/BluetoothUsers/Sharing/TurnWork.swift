import BluetoothHost

/// The work that remains at the end of a turn, depending on the packets and calls it handled. See `HostConsequence`.
enum TurnWork: Sendable {
    /// Nothing: only values and data of channels were received.
    case none
    /// Credits may have to be returned.
    case sending
    /// Links may have work. If `nextDeadline` is earlier than before, it is at least 30 seconds away.
    case waiting
    /// Links may have work, and `nextDeadline` may have changed.
    case any

    /// Adds what the host reports about a packet or a call.
    @inline(__always)
    mutating func add(_ consequence: HostConsequence) {
        switch consequence {
        case .none: return
        case .sending: addSending()
        case .waiting: if self != .any { self = .waiting }
        case .any: self = .any
        }
    }

    @inline(__always)
    mutating func addSending() {
        if case .none = self { self = .sending }
    }
}
