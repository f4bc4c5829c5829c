import BluetoothBase
import BluetoothHCI

/// How to scan (Core 5.4, Vol 4, Part E, 7.8.10).
public struct ScanParameters: Equatable, Sendable {
    /// Whether to ask advertisers for their scan response.
    public var isActive: Bool
    /// From the start of one scan window to the start of the next, 2.5 ms to 10.24 s.
    public var interval: Duration
    /// How long the receiver is on in each interval.
    public var window: Duration
    /// Whether the controller is to report every advertising event, not each advertiser once.
    public var reportsDuplicates: Bool

    /// By default active, with the receiver on all the time, and every advertising event reported.
    public init(
        isActive: Bool = true, interval: Duration = .milliseconds(60), window: Duration = .milliseconds(60),
        reportsDuplicates: Bool = true
    ) {
        self.isActive = isActive
        self.interval = interval
        self.window = window
        self.reportsDuplicates = reportsDuplicates
    }
}

/// What is wanted of the scanner, and what it does.
struct Scanner: Sendable {
    var wanted: ScanParameters?
    var activity: Activity<ScanParameters> = .idle
    /// Set while the controller refuses to scan and connect at once, until the connection attempt is over.
    var isPaused = false
    var watchdog = ScanWatchdog()

    var isIdle: Bool {
        if case .idle = activity { true } else { false }
    }
}
