/// The number of failed handshakes from each address, and the time until which further ones must wait.
///
/// The first failures have no consequences, because a user may be trying out keys. After that, each failure doubles the
/// wait, up to a limit. The table is bounded: when it is full, the address with the least recent failure is evicted.
struct FailedHandshakes {
    typealias Instant = ContinuousClock.Instant

    private struct Record {
        var count = 0
        var last: Instant
        var waitsUntil: Instant
    }

    /// The number of failures without consequences.
    static let freeFailures = 10
    static let firstWait = Duration.seconds(1)
    static let longestWait = Duration.seconds(30)
    /// After this time without a failure, an address's earlier failures no longer count.
    static let memory = Duration.seconds(300)
    static let limit = 256

    private var records: [ClientOrigin: Record] = [:]

    /// The number of addresses in the table.
    var count: Int { records.count }

    /// Whether handshakes from an address must wait.
    func isBackingOff(_ origin: ClientOrigin, at now: Instant) -> Bool {
        records[origin].map { now < $0.waitsUntil } ?? false
    }

    mutating func record(_ origin: ClientOrigin, at now: Instant) {
        if records.count >= Self.limit, records[origin] == nil,
            let oldest = records.min(by: { $0.value.last < $1.value.last })
        {
            records[oldest.key] = nil
        }
        var record = records[origin] ?? Record(last: now, waitsUntil: now)
        if record.last.duration(to: now) >= Self.memory { record.count = 0 }
        record.count += 1
        record.last = now
        if record.count > Self.freeFailures {
            // From this number on, the wait has its maximum in any case.
            let doublings = min(record.count - Self.freeFailures - 1, 16)
            record.waitsUntil = now.advanced(by: min(Self.firstWait * (1 << doublings), Self.longestWait))
        }
        records[origin] = record
    }

    /// Removes an address from which a client has finished its handshake.
    mutating func forget(_ origin: ClientOrigin) { records[origin] = nil }
}
