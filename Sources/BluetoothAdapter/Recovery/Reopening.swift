import BluetoothBase

/// Schedules the attempts to reopen a lost controller.
///
/// A controller that was just lost or plugged in may need a moment. The first retry comes after 100 ms, and the delay
/// doubles up to 5 s. If the system reports arriving controllers, the attempts stop after a few, and the next arrival
/// restarts them. Otherwise they continue.
struct Reopening: Equatable, Sendable {
    /// When the next attempt is due; nil during an attempt, and while waiting for an arrival.
    private(set) var nextTry: Instant?
    /// The delay before the next attempt.
    private var delay = Self.firstDelay
    private var triesLeft = Self.triesPerArrival
    /// Whether `arrived` will be called when a controller arrives.
    var isToldOfArrivals = false
    private var isTrying = false
    /// Whether a controller arrived during the current attempt.
    private var hasArrived = false
    private var upSince: Instant?

    static let firstDelay = Duration.milliseconds(100)
    static let longestDelay = Duration.seconds(5)
    /// These attempts take 16 seconds in total.
    static let triesPerArrival = 8
    /// How long a controller must have been up before its loss restarts the delays.
    static let probation = Duration.seconds(10)

    /// The controller was lost.
    mutating func lost(at now: Instant) {
        // If a controller is lost repeatedly, the delays keep growing.
        if let upSince, upSince.duration(to: now) < Self.probation {} else { delay = Self.firstDelay }
        upSince = nil
        triesLeft = Self.triesPerArrival
        schedule(at: now)
    }

    /// An attempt begins.
    mutating func begin() {
        nextTry = nil
        isTrying = true
        hasArrived = false
    }

    /// The attempt failed: the transport could not be opened, or its controller could not be initialized.
    ///
    /// - Parameter isAbsent: whether there was nothing to open. Otherwise the attempt itself may have caused an
    ///   arrival, because the kernel announces an adapter when a process releases it.
    /// - Parameter goesOn: whether to keep trying without an arrival. An obstacle that keeps a controller from ever
    ///   becoming ready may disappear without a report.
    mutating func failed(isAbsent: Bool, goesOn: Bool = false, at now: Instant) {
        isTrying = false
        if hasArrived, isAbsent { return arrived(at: now) }
        triesLeft -= 1
        guard triesLeft > 0 || !isToldOfArrivals || goesOn else { return }
        schedule(at: now)
    }

    /// A controller arrived, although not necessarily the right one. The system may still be setting it up.
    mutating func arrived(at now: Instant) {
        hasArrived = isTrying
        guard !isTrying else { return }
        delay = Self.firstDelay
        triesLeft = Self.triesPerArrival
        schedule(at: now)
    }

    /// The controller is ready again.
    mutating func succeeded(at now: Instant) {
        nextTry = nil
        isTrying = false
        upSince = now
    }

    private mutating func schedule(at now: Instant) {
        nextTry = now.advanced(by: delay)
        delay = min(delay * 2, Self.longestDelay)
    }
}
