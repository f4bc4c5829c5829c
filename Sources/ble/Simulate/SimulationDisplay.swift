import BluetoothPlatform
import BluetoothSimulation
import BluetoothCommandLine

/// Shows the progress of a simulation on standard error: on a terminal in a line that is updated, elsewhere at
/// intervals.
struct SimulationDisplay {
    let total: UInt64
    private let start = ContinuousClock.now
    private var line = StatusLine()

    init(total: UInt64) { self.total = total }

    mutating func show(_ progress: Simulation.Progress) {
        let elapsed = ContinuousClock.now - start
        let rate = Self.perSecond(progress.count, elapsed)
        let left = rate > 0 ? Int(Double(total) - Double(progress.count)) / max(1, Int(rate)) : 0
        let failures = progress.failureCount == 0 ? "" : ", \(progress.failureCount) failed"
        line.show("\(progress.count) of \(total) worlds, \(Int(rate)) a second, \(left) s left\(failures)")
    }

    mutating func end() { line.end() }

    /// The summary for standard output.
    func summary(of progress: Simulation.Progress, next: UInt64, in seeds: SeedRange) -> String {
        let elapsed = ContinuousClock.now - start
        let hours = Int(progress.simulatedTime.components.seconds) / 3_600
        return """
            worlds: \(progress.count), seeds \(seeds.range.lowerBound)..\(max(seeds.range.lowerBound, next &- 1)); \
            continue with \(next)
            failed: \(progress.failureCount)
            time: \(elapsed.components.seconds) s, \(Int(Self.perSecond(progress.count, elapsed))) worlds a second; \
            \(hours) hours in the worlds
            packets: \(Self.text(progress.packets))
            operations: \(Self.text(progress.operations))
            faults: \(Self.text(progress.faults))
            cards: \(progress.cardCount)
            digest: \(progress.digest)
            """
    }

    private static func perSecond(_ count: Int, _ time: Duration) -> Double {
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18
        return seconds > 0 ? Double(count) / seconds : 0
    }

    private static func text(_ distribution: Distribution) -> String {
        let quantiles = [0.05, 0.25, 0.5, 0.75, 0.95].map { "\(distribution.quantile($0) ?? 0)" }
        return "\(distribution.sum); a world at 5, 25, 50, 75, 95 %: \(quantiles.joined(separator: ", "))"
    }
}

/// Shows the progress of shrinking a scenario.
struct ShrinkDisplay {
    private var line = StatusLine()

    mutating func show(_ played: Int, _ size: Int) { line.show("shrinking: \(size) parts left after \(played) worlds") }

    mutating func end() { line.end() }
}

/// A status line on standard error. On a terminal it replaces the previous one. Elsewhere it is written every ten
/// seconds.
struct StatusLine {
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private var lastShown: ContinuousClock.Instant?
    private var hasLine = false

    mutating func show(_ text: String) {
        let now = ContinuousClock.now
        let pause = isTerminal ? Duration.milliseconds(100) : .seconds(10)
        if let lastShown, now - lastShown < pause { return }
        if lastShown == nil, !isTerminal {
            lastShown = now
            return
        }
        lastShown = now
        if isTerminal {
            hasLine = true
            sayInPlace(text)
        } else {
            say(text)
        }
    }

    mutating func end() {
        if hasLine { say("") }
        hasLine = false
    }
}

/// The number of processors that are online.
func processorCount() -> Int {
    let count = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    return max(1, count)
}
