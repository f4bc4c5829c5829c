import BluetoothHost

/// What a turn has to do at its end, because of what was handled in it. See `HostConsequence`.
enum TurnWork: Sendable {
    /// Nothing: only values and data of channels were received.
    case none
    /// Credits may have to be returned.
    case sending
    /// Links may have work. `nextDeadline` may have become later, but not much earlier.
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
