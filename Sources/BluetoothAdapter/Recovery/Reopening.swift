import BluetoothBase

/// When to try to get a lost controller back.
///
/// A controller that was just lost or plugged in may need a moment: the first retry is after 100 ms, and the delay
/// doubles up to 5 s. If arrivals are reported, a few attempts are enough, and the next arrival is then awaited at no
/// cost. Otherwise the attempts continue.
struct Reopening: Equatable, Sendable {
    /// When the next attempt is due; nil during an attempt, and while only an arrival can help.
    private(set) var nextTry: Instant?
    /// The delay before the next attempt.
    private var delay = Self.firstDelay
    private var triesLeft = Self.triesPerArrival
    /// Whether `arrived` will be called when a controller comes.
    var isToldOfArrivals = false
    private var isTrying = false
    /// Whether an arrival was reported during an attempt.
    private var hasArrived = false
    private var upSince: Instant?

    static let firstDelay = Duration.milliseconds(100)
    static let longestDelay = Duration.seconds(5)
    /// They take 16 seconds.
    static let triesPerArrival = 8
    /// How long a controller must have been up for its loss to count as a first one.
    static let probation = Duration.seconds(10)

    /// The controller is gone.
    mutating func lost(at now: Instant) {
        // A controller that comes and goes does not restart the delays.
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

    /// The attempt has failed: no transport could be opened, or its controller could not be brought up.
    ///
    /// - Parameter isAbsent: whether there was nothing to open. Otherwise the attempt itself may have caused an
    ///   arrival: the kernel announces an adapter when a process releases it.
    /// - Parameter goesOn: whether to try again even if only an arrival could help: other obstacles to a controller
    ///   that was never up may end without a report.
    mutating func failed(isAbsent: Bool, goesOn: Bool = false, at now: Instant) {
        isTrying = false
        if hasArrived, isAbsent { return arrived(at: now) }
        triesLeft -= 1
        guard triesLeft > 0 || !isToldOfArrivals || goesOn else { return }
        schedule(at: now)
    }

    /// A controller has arrived, perhaps the right one. The system may still be setting it up.
    mutating func arrived(at now: Instant) {
        hasArrived = isTrying
        guard !isTrying else { return }
        delay = Self.firstDelay
        triesLeft = Self.triesPerArrival
        schedule(at: now)
    }

    /// The controller is up again.
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
