import BluetoothBase

/// Detects scans that have gone silent. Some controllers stop reporting after minutes or hours, but still answer every
/// command.
///
/// Silence alone proves nothing, because no device may be in range. Restarting the scan costs two commands. After each
/// restart without a report, the next silence may last twice as long, up to an hour, so that an idle host eventually
/// wakes up only once an hour.
struct ScanWatchdog: Hashable, Sendable {
    /// The time at which the silence has lasted too long; nil while no report is expected.
    private(set) var deadline: Instant?
    private var lastReport = Instant.zero
    /// The limit of the current silence; nil to use the initial `limit`, because reports have arrived in time.
    private var timeout: Duration?
    private var limit = Duration.zero

    private static let longestTimeout = Duration.seconds(3600)

    /// Notes that the controller has started a scan that reports every advertising event.
    ///
    /// - Parameter limit: how long a silence may last if reports have arrived in time before.
    mutating func start(_ limit: Duration, at now: Instant) {
        self.limit = max(limit, .seconds(1))
        lastReport = now
        deadline = now.advanced(by: timeout ?? self.limit)
    }

    /// Notes that the controller was asked to stop.
    mutating func stop() { deadline = nil }

    /// Records a report of the controller.
    @inline(__always)
    mutating func reportReceived(at now: Instant) {
        lastReport = now
        // Otherwise the deadline is moved only when it is reached, so that a report need not reschedule a timer.
        if timeout != nil { restoreTimeout(at: now) }
    }

    private mutating func restoreTimeout(at now: Instant) {
        timeout = nil
        if deadline != nil { deadline = now.advanced(by: limit) }
    }

    /// Whether the scan has been silent for too long and must be restarted.
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
