import BluetoothBase

/// When to try to get a lost controller back.
///
/// What has just been lost, or has just come, may need a moment: tries follow each other after 100 ms, then after twice
/// as long each time, up to 5 s. Where something tells that a controller has arrived, a few tries are enough, and then
/// the next arrival is waited for, at no cost; where nothing does, they go on.
struct Reopening: Equatable, Sendable {
    /// When the next try is due; nil while one is under way, and while only an arrival can help.
    private(set) var nextTry: Instant?
    /// How long the next try is waited for.
    private var delay = Self.firstDelay
    private var triesLeft = Self.triesPerArrival
    /// Whether `arrived` will be called when a controller comes.
    var isToldOfArrivals = false
    private var isTrying = false
    /// Whether an arrival has come while a try was under way.
    private var hasArrived = false
    private var upSince: Instant?

    static let firstDelay = Duration.milliseconds(100)
    static let longestDelay = Duration.seconds(5)
    /// They take 16 seconds.
    static let triesPerArrival = 8
    /// How long a controller must have been there for its loss to count as the first.
    static let probation = Duration.seconds(10)

    /// The controller is gone.
    mutating func lost(at now: Instant) {
        // One that comes and goes is not got back any faster for it.
        if let upSince, upSince.duration(to: now) < Self.probation {} else { delay = Self.firstDelay }
        upSince = nil
        triesLeft = Self.triesPerArrival
        schedule(at: now)
    }

    /// A try begins.
    mutating func begin() {
        nextTry = nil
        isTrying = true
        hasArrived = false
    }

    /// The try has failed: no transport could be opened, or its controller could not be brought up.
    ///
    /// - Parameter isAbsent: whether there was nothing to open. Else an arrival that came meanwhile may be of the try's
    ///   own making: the kernel announces an adapter that somebody has let go of.
    /// - Parameter goesOn: whether to try again even where only an arrival could help: whatever else stands in the way of
    ///   a controller that has never been there may end without being told.
    mutating func failed(isAbsent: Bool, goesOn: Bool = false, at now: Instant) {
        isTrying = false
        if hasArrived, isAbsent { return arrived(at: now) }
        triesLeft -= 1
        guard triesLeft > 0 || !isToldOfArrivals || goesOn else { return }
        schedule(at: now)
    }

    /// A controller has come, perhaps the right one. The system may still be busy with it.
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
