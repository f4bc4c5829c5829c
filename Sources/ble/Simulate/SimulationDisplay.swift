import BluetoothBase
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
        line.show(Self.status(progress.count, of: total, failed: progress.failureCount, after: elapsed))
    }

    /// - Parameter played: the number of worlds that were played.
    static func status(_ played: Int, of total: UInt64, failed: Int, after time: Duration) -> String {
        let rate = perSecond(played, time)
        let left = played > 0 ? (total - min(UInt64(played), total)) / max(1, rate) : 0
        let failures = failed == 0 ? "" : ", \(failed) failed"
        return "\(played) of \(total) worlds, \(rate) a second, \(left) s left\(failures)"
    }

    mutating func end() { line.end() }

    /// The summary for standard output.
    func summary(of progress: Simulation.Progress, next: UInt64, in seeds: SeedRange) -> String {
        let elapsed = ContinuousClock.now - start
        let hours = Int(progress.simulatedTime.components.seconds) / 3_600
        return """
            worlds: \(progress.count), seeds \(seeds.played(before: next)); continue with \(next)
            failed: \(progress.failureCount)
            time: \(elapsed.components.seconds) s, \(Self.perSecond(progress.count, elapsed)) worlds a second; \
            \(hours) hours in the worlds
            packets: \(Self.text(progress.packets))
            operations: \(Self.text(progress.operations))
            faults: \(Self.text(progress.faults))
            cards: \(progress.cardCount)
            digest: \(progress.digest)
            """
    }

    /// The number of worlds per second, rounded down; 0 in the first millisecond.
    private static func perSecond(_ count: Int, _ time: Duration) -> UInt64 {
        let milliseconds = UInt64(clamping: time.nanoseconds / 1_000_000)
        // Worlds that were really played are too few for an overflow.
        return milliseconds > 0 ? UInt64(count) * 1_000 / milliseconds : 0
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
