import BluetoothBase

/// Notices that a scan has gone silent: some controllers stop reporting after minutes or hours, and answer every
/// command all the same.
///
/// Silence proves nothing, for there may be nobody to hear. The scan is begun anew, which costs two commands, and each
/// time that brings nothing either, the next silence may be twice as long, up to an hour: in an empty room the machine
/// is woken once an hour in the end.
struct ScanWatchdog: Sendable {
    /// When the silence has lasted long enough; nil while nothing is to be heard.
    private(set) var deadline: Instant?
    private var lastReport = Instant.zero
    /// How long a silence may be now; nil while the last one has been broken.
    private var patience: Duration?
    private var limit = Duration.zero

    private static let longestPatience = Duration.seconds(3600)

    /// The controller has begun to scan, and is to report every advertising event that it hears.
    ///
    /// - Parameter limit: how long a silence may be, where the one before was broken.
    mutating func start(_ limit: Duration, at now: Instant) {
        self.limit = max(limit, .seconds(1))
        lastReport = now
        deadline = now.advanced(by: patience ?? self.limit)
    }

    /// The controller is told to stop.
    mutating func stop() { deadline = nil }

    /// The controller has reported something.
    @inline(__always)
    mutating func hear(at now: Instant) {
        lastReport = now
        // Else the deadline is moved when it comes, so that a report moves no timer.
        if patience != nil { patienceRestored(at: now) }
    }

    private mutating func patienceRestored(at now: Instant) {
        patience = nil
        if deadline != nil { deadline = now.advanced(by: limit) }
    }

    /// Whether the scan has been silent for too long and is to begin anew.
    mutating func fire(at now: Instant) -> Bool {
        guard let deadline, deadline <= now else { return false }
        let patience = patience ?? limit
        let end = lastReport.advanced(by: patience)
        guard end <= now else {
            self.deadline = end
            return false
        }
        self.deadline = nil
        self.patience = max(limit, min(patience + patience, Self.longestPatience))
        return true
    }
}
