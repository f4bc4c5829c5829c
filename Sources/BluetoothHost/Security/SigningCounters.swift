import BluetoothBase
import BluetoothSMP

/// The counters for this host's signatures, by peer. Writes that wait until a block of counters is stored are held
/// elsewhere.
struct SigningCounters: Sendable {
    private var counters: [PeerID: SignatureCounters] = [:]
    /// The peers with reserved counters that are not stored yet.
    private var unstored: Set<PeerID> = []

    /// Whether a value for a peer can be signed.
    enum Availability: Equatable {
        /// A counter is available that is stored as used.
        case ready
        /// The value can be signed once the counters below this one are stored as used.
        case reserved(below: UInt32)
        /// The value can be signed once the counters reserved earlier are stored.
        case waiting
    }

    /// - Parameters:
    ///   - key: the key to sign with.
    ///   - isStored: whether the bond is kept in a store that takes time.
    mutating func availability(for peer: PeerID, of key: SignatureKey, isStored: Bool) -> Availability {
        guard isStored else { return .ready }
        guard !unstored.contains(peer) else { return .waiting }
        guard let limit = reserve(for: peer, of: key) else { return .ready }
        unstored.insert(peer)
        return .reserved(below: limit)
    }

    /// Reserves counters if none is left.
    ///
    /// - Returns: the counter below which all counters must be stored as used; nil if nothing was reserved, because a
    ///   counter is left, or because the key has no more counters.
    mutating func reserve(for peer: PeerID, of key: SignatureKey) -> UInt32? {
        var counters = counters[peer] ?? SignatureCounters(stored: key.counter)
        defer { self.counters[peer] = counters }
        guard counters.isExhausted else { return nil }
        let limit = counters.reserve()
        return counters.isExhausted ? nil : limit
    }

    /// A counter that was never used with this key; nil if the key has no counters left.
    mutating func take(for peer: PeerID) -> UInt32? { counters[peer]?.take() }

    /// Ends the reservation for a peer, after its counters were stored as used or could not be.
    ///
    /// - Returns: false if no reservation was pending.
    mutating func reservationEnded(for peer: PeerID, isStored: Bool) -> Bool {
        guard unstored.remove(peer) != nil else { return false }
        if !isStored { counters[peer] = nil }
        return true
    }

    /// Forgets the counters of a peer whose key was removed or replaced.
    mutating func forget(_ peer: PeerID) {
        counters[peer] = nil
        unstored.remove(peer)
    }
}
