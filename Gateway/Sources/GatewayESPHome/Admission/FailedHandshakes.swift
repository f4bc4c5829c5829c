/// How often handshakes from each address failed, and until when further ones have to wait.
///
/// The first failures cost nothing: someone is trying keys out. After that each doubles the wait, up to a limit. The table
/// is bounded. When it is full the address that failed longest ago is forgotten.
struct FailedHandshakes {
    typealias Instant = ContinuousClock.Instant

    private struct Record {
        var count = 0
        var last: Instant
        var waitsUntil: Instant
    }

    /// How many failures have no consequence.
    static let freeFailures = 10
    static let firstWait = Duration.seconds(1)
    static let longestWait = Duration.seconds(30)
    /// After this time without a failure those of an address no longer count.
    static let memory = Duration.seconds(300)
    static let limit = 256

    private var records: [ClientOrigin: Record] = [:]

    /// How many addresses are remembered.
    var count: Int { records.count }

    /// Whether handshakes from an address have to wait.
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
            // Beyond this many the wait is the longest in any case.
            let doublings = min(record.count - Self.freeFailures - 1, 16)
            record.waitsUntil = now.advanced(by: min(Self.firstWait * (1 << doublings), Self.longestWait))
        }
        records[origin] = record
    }

    /// A client at an address has finished its handshake.
    mutating func forget(_ origin: ClientOrigin) { records[origin] = nil }
}
