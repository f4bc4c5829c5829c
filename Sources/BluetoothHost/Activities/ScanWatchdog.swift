import BluetoothBase

/// Notices that a scan has gone silent: some controllers stop reporting after minutes or hours, and answer every
/// command all the same.
///
/// Silence proves nothing, since there may be nobody in range. The scan is restarted, which costs two commands. Each time
/// that brings no report either, the next silence may last twice as long, up to an hour: in an empty room the machine
/// wakes up once an hour in the end.
struct ScanWatchdog: Hashable, Sendable {
    /// When the silence has lasted long enough; nil while no report is expected.
    private(set) var deadline: Instant?
    private var lastReport = Instant.zero
    /// How long this silence may last; nil while the one before was broken in time.
    private var timeout: Duration?
    private var limit = Duration.zero

    private static let longestTimeout = Duration.seconds(3600)

    /// The controller has begun to scan, and is to report every advertising event that it receives.
    ///
    /// - Parameter limit: how long a silence may last when the one before was broken in time.
    mutating func start(_ limit: Duration, at now: Instant) {
        self.limit = max(limit, .seconds(1))
        lastReport = now
        deadline = now.advanced(by: timeout ?? self.limit)
    }

    /// The controller was asked to stop.
    mutating func stop() { deadline = nil }

    /// The controller has reported something.
    @inline(__always)
    mutating func reportReceived(at now: Instant) {
        lastReport = now
        // Else the deadline is moved when it comes, so that a report moves no timer.
        if timeout != nil { restoreTimeout(at: now) }
    }

    private mutating func restoreTimeout(at now: Instant) {
        timeout = nil
        if deadline != nil { deadline = now.advanced(by: limit) }
    }

    /// Whether the scan has been silent for too long and is to be restarted.
    mutating func fire(at now: Instant) -> Bool {
        guard let deadline, deadline <= now else { return false }
        let timeout = timeout ?? limit
        let end = lastReport.advanced(by: timeout)
        guard end <= now else {
            self.deadline = end
            return false
        }
        self.deadline = nil
        self.timeout = max(limit, min(timeout + timeout, Self.longestTimeout))
        return true
    }
}
