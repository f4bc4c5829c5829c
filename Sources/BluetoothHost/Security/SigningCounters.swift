import BluetoothBase
import BluetoothSMP

/// The counters of what this host signs, by peer. What waits for a block of them to be stored waits elsewhere.
struct SigningCounters: Sendable {
    private var counters: [PeerID: SignatureCounters] = [:]
    /// The peers for which counters are reserved that are not stored yet.
    private var unstored: Set<PeerID> = []

    /// Whether a value for a peer can be signed.
    enum Availability: Equatable {
        /// With a counter that is stored as used.
        case ready
        /// Once the counters below this one are stored as used.
        case reserved(below: UInt32)
        /// Once those are stored that were reserved before.
        case waiting
    }

    /// - Parameters:
    ///   - key: the key to sign with.
    ///   - isStored: whether the bond is kept by a store that takes time.
    mutating func availability(for peer: PeerID, of key: SignatureKey, isStored: Bool) -> Availability {
        guard isStored else { return .ready }
        guard !unstored.contains(peer) else { return .waiting }
        guard let limit = reserve(for: peer, of: key) else { return .ready }
        unstored.insert(peer)
        return .reserved(below: limit)
    }

    /// Reserves counters if none is left.
    ///
    /// - Returns: the counter below which all must be stored as used; nil if nothing was reserved, because there is a counter, or
    ///   because the key has no more.
    mutating func reserve(for peer: PeerID, of key: SignatureKey) -> UInt32? {
        var counters = counters[peer] ?? SignatureCounters(stored: key.counter)
        defer { self.counters[peer] = counters }
        guard counters.isExhausted else { return nil }
        let limit = counters.reserve()
        return counters.isExhausted ? nil : limit
    }

    /// A counter that was never used with this key; nil if the key has no more.
    mutating func take(for peer: PeerID) -> UInt32? { counters[peer]?.take() }

    /// The counters reserved for a peer have been stored as used, or could not be.
    ///
    /// - Returns: false if none were waiting for that.
    mutating func reservationEnded(for peer: PeerID, isStored: Bool) -> Bool {
        guard unstored.remove(peer) != nil else { return false }
        if !isStored { counters[peer] = nil }
        return true
    }

    /// The peer has no key any more, or another one.
    mutating func forget(_ peer: PeerID) {
        counters[peer] = nil
        unstored.remove(peer)
    }
}
