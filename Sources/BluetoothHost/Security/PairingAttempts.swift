import BluetoothBase

/// Limits how often a peer may fail to pair: each failure doubles the time until the next attempt (Core 5.4, Vol 3, Part H,
/// 2.3.6), so that a passkey cannot be guessed by trying.
struct PairingAttempts: Sendable {
    private struct Record: Sendable {
        let peer: PeerID
        var failures = 0
        var until = Instant.zero
        var last = Instant.zero
    }

    /// Those that failed, oldest first.
    private var records: [Record] = []

    /// How many failures are free. A person mistypes.
    static let freeFailures = 3
    static let firstWait = Duration.seconds(2)
    static let longestWait = Duration.seconds(3600)
    /// How many peers are remembered, each for an hour after its last failure. A peer can change its address for each
    /// attempt, so all that find no place share one record.
    static let capacity = 64

    private var others = Record(peer: PeerID(DeviceAddress(0, kind: .public)))

    /// Whether an attempt with this peer has to wait.
    func isBlocked(_ peer: PeerID, at now: Instant) -> Bool {
        let until = records.first { $0.peer == peer }?.until ?? others.until
        return now < until
    }

    mutating func fail(_ peer: PeerID, at now: Instant) {
        records.removeAll { $0.last.duration(to: now) > Self.longestWait }
        guard let index = records.firstIndex(where: { $0.peer == peer }) else {
            if records.count < Self.capacity {
                records.append(Self.failed(Record(peer: peer), at: now))
            } else {
                others = Self.failed(others, at: now)
            }
            return
        }
        records[index] = Self.failed(records[index], at: now)
    }

    mutating func succeed(_ peer: PeerID) { records.removeAll { $0.peer == peer } }

    private static func failed(_ record: Record, at now: Instant) -> Record {
        var record = record
        record.failures += 1
        record.last = now
        let exponent = record.failures - freeFailures
        guard exponent > 0 else { return record }
        record.until = now.advanced(by: min(firstWait * (1 << min(exponent - 1, 20)), longestWait))
        return record
    }
}
