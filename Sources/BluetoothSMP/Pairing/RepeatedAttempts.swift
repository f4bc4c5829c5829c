import BluetoothBase

/// Makes peers that have failed to authenticate wait, longer each time, so that passkeys cannot be guessed by trial
/// (Core 5.4, Vol 3, Part H, 2.3.6).
struct RepeatedAttempts: Sendable {
    private struct Entry {
        var failureCount: Int
        var blockedUntil: Instant
    }

    private var entries: [DeviceAddress: Entry] = [:]

    /// The number of peers that are remembered. An attacker that changes addresses could fill any list.
    static let capacity = 64
    /// The wait after the first failure, in seconds. It doubles with each further failure.
    static let shortestWait: Int64 = 1
    static let longestWait: Int64 = 64
    /// How long a peer must go without a failure before its failures are forgotten.
    static let memory = Duration.seconds(600)

    /// The additional wait of a local attempt: the peer learns of a failure later than this device, and counts from
    /// then.
    static let allowance = Duration.milliseconds(500)

    /// Whether requests from the peer are refused.
    func isBlocked(_ address: DeviceAddress, at now: Instant) -> Bool {
        entries[address].map { now < $0.blockedUntil } ?? false
    }

    /// When this device may start to pair with the peer; nil if it may start now.
    func localAttempt(with address: DeviceAddress, at now: Instant) -> Instant? {
        entries[address].map { $0.blockedUntil.advanced(by: Self.allowance) }.flatMap { now < $0 ? $0 : nil }
    }

    /// Records how a pairing ended, if its end is among the effects.
    mutating func note(_ effects: [PairingEffect], of address: DeviceAddress, at now: Instant) {
        guard case .ended(let result)? = effects.last else { return }
        switch result {
        case .success: entries[address] = nil
        case .failure(.local(let reason)), .failure(.peer(let reason)):
            if Self.countedReasons.contains(reason) { noteFailure(of: address, at: now) }
        case .failure: break
        }
    }

    /// The failures caused by a peer without the secret, and refusal by the user: a refused peer may not ask again
    /// immediately.
    private static let countedReasons: Set<PairingFailure> = [
        .confirmValueFailed, .dhKeyCheckFailed, .numericComparisonFailed, .passkeyEntryFailed, .pairingNotSupported,
    ]

    private mutating func noteFailure(of address: DeviceAddress, at now: Instant) {
        var failureCount = 1
        if let entry = entries[address], now < entry.blockedUntil.advanced(by: Self.memory) {
            failureCount = entry.failureCount + 1
        }
        let wait = min(Self.longestWait, Self.shortestWait << Int64(min(failureCount - 1, 16)))
        if entries.count >= Self.capacity, entries[address] == nil,
            let oldest = entries.min(by: { $0.value.blockedUntil < $1.value.blockedUntil })
        {
            entries[oldest.key] = nil
        }
        entries[address] = Entry(failureCount: failureCount, blockedUntil: now.advanced(by: .seconds(wait)))
    }
}
