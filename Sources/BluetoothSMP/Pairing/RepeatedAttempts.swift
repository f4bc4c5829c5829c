import BluetoothBase

/// Makes peers wait that have failed to authenticate themselves, longer each time, so that passkeys cannot be tried out (Core 5.4,
/// Vol 3, Part H, 2.3.6).
struct RepeatedAttempts: Sendable {
    private struct Entry {
        var failureCount: Int
        var blockedUntil: Instant
    }

    private var entries: [DeviceAddress: Entry] = [:]

    /// How many peers are remembered: whoever changes addresses can fill any list.
    static let capacity = 64
    /// The wait after the first failure, in seconds. It doubles with each one more.
    static let shortestWait: Int64 = 1
    static let longestWait: Int64 = 64
    /// How long a peer has to behave until its failures are forgotten.
    static let memory = Duration.seconds(600)

    /// How much longer than the peer a local attempt waits: the peer learns of a failure later than this device, and counts from
    /// then.
    static let allowance = Duration.milliseconds(500)

    /// Whether a request of the peer is refused.
    func isBlocked(_ peer: DeviceAddress, at now: Instant) -> Bool {
        entries[peer].map { now < $0.blockedUntil } ?? false
    }

    /// When this device may begin to pair with the peer; nil for at once.
    func localAttempt(with peer: DeviceAddress, at now: Instant) -> Instant? {
        entries[peer].map { $0.blockedUntil.advanced(by: Self.allowance) }.flatMap { now < $0 ? $0 : nil }
    }

    /// Notes how a pairing has ended, if that is among the effects.
    mutating func note(_ effects: [PairingEffect], of peer: DeviceAddress, at now: Instant) {
        guard case .ended(let result)? = effects.last else { return }
        switch result {
        case .success: entries[peer] = nil
        case .failure(.local(let reason)), .failure(.peer(let reason)):
            if Self.countedReasons.contains(reason) { noteFailure(of: peer, at: now) }
        case .failure: break
        }
    }

    /// Those that a peer without the secret leads to, and the person's refusal: who was refused does not ask again at once.
    private static let countedReasons: Set<PairingFailure> = [
        .confirmValueFailed, .dhKeyCheckFailed, .numericComparisonFailed, .passkeyEntryFailed, .pairingNotSupported,
    ]

    private mutating func noteFailure(of peer: DeviceAddress, at now: Instant) {
        var failureCount = 1
        if let entry = entries[peer], now < entry.blockedUntil.advanced(by: Self.memory) {
            failureCount = entry.failureCount + 1
        }
        let wait = min(Self.longestWait, Self.shortestWait << Int64(min(failureCount - 1, 16)))
        if entries.count >= Self.capacity, entries[peer] == nil,
            let oldest = entries.min(by: { $0.value.blockedUntil < $1.value.blockedUntil })
        {
            entries[oldest.key] = nil
        }
        entries[peer] = Entry(failureCount: failureCount, blockedUntil: now.advanced(by: .seconds(wait)))
    }
}
