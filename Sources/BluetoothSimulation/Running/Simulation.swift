import BluetoothAdapter
import BluetoothBase
import Synchronization

/// Plays the worlds of many seeds on several threads.
public final class Simulation: Sendable {
    /// The results of the worlds played so far.
    public struct Progress: Sendable {
        /// The number of finished worlds.
        public var count = 0
        /// The seeds of failed worlds with their violations, in ascending order of seeds; at most `maximumFailures`.
        public var failures: [(seed: UInt64, violations: [Violation])] = []
        /// The number of failed worlds, including those that are not kept in `failures`.
        public var failureCount = 0
        /// The distribution of the number of HCI packets in each world.
        public var packets = Distribution()
        /// The distribution of the number of calls by users in each world.
        public var operations = Distribution()
        /// The distribution of the number of faults in each world.
        public var faults = Distribution()
        /// The number of cards that arrived complete, in all worlds together.
        public var cardCount = 0
        /// The total time that has passed in the worlds.
        public var simulatedTime = Duration.zero
        /// A digest of the digests of all worlds, independent of their order.
        public var digest: UInt64 = 0
    }

    /// The maximum number of failed worlds whose violations are kept.
    public static let maximumFailures = 64
    /// One in this many worlds is played twice, and must produce the same bytes.
    public static let repetitionInterval: UInt64 = 64

    private let seeds: Range<UInt64>
    private let kind: ScenarioKind?
    private let isStoppingAtFailure: Bool
    private let next: Atomic<UInt64>
    private let isStopped = Atomic(false)
    private let state = Mutex((progress: Progress(), runningJobs: 0))

    /// Prepares to play one world for each seed.
    ///
    /// - Parameters:
    ///   - seeds: the seeds of the worlds.
    ///   - kind: the kind of scenarios; nil plays the kinds in turn.
    ///   - stopsAtFailure: whether to stop at the first world that fails.
    public init(seeds: Range<UInt64>, kind: ScenarioKind? = nil, stopsAtFailure: Bool = false) {
        self.seeds = seeds
        self.kind = kind
        isStoppingAtFailure = stopsAtFailure
        next = Atomic(seeds.lowerBound)
    }

    /// The number of worlds to play.
    public var count: UInt64 { seeds.upperBound - seeds.lowerBound }

    /// The results so far.
    public var progress: Progress { state.withLock { $0.progress } }

    /// Whether all worlds have been played, or playing was stopped and the last worlds have finished.
    public var isOver: Bool { state.withLock { $0.runningJobs == 0 } }

    /// Plays worlds on this thread until none are left.
    public func run() {
        begin()
        work()
    }

    /// Plays worlds on a number of background threads. Returns immediately.
    ///
    /// - Throws: `TransportError` if the system has no threads left.
    public func start(jobs: Int) throws {
        for _ in 0..<max(1, jobs) {
            begin()
            do {
                try startThread { [self] in work() }
            } catch {
                state.withLock { $0.runningJobs -= 1 }
                throw error
            }
        }
    }

    /// Stops starting new worlds. Worlds in progress finish.
    public func stop() { isStopped.store(true, ordering: .relaxed) }

    /// The first seed that has not been played.
    public var nextSeed: UInt64 { next.load(ordering: .relaxed) }

    private func begin() { state.withLock { $0.runningJobs += 1 } }

    private func work() {
        while !isStopped.load(ordering: .relaxed), let seed = takeSeed() { note(Self.play(seed, kind), of: seed) }
        state.withLock { $0.runningJobs -= 1 }
    }

    /// The next seed; nil if none is left. The counter never passes the end, where it could wrap around.
    private func takeSeed() -> UInt64? {
        var seed = next.load(ordering: .relaxed)
        while seed < seeds.upperBound {
            let (isTaken, current) = next.weakCompareExchange(expected: seed, desired: seed + 1, ordering: .relaxed)
            if isTaken { return seed }
            seed = current
        }
        return nil
    }

    /// Plays the world of a seed. Some worlds are played twice.
    static func play(_ seed: UInt64, _ kind: ScenarioKind?) -> WorldReport {
        let scenario = Scenario(seed: seed, kind: kind ?? ScenarioKind(of: seed))
        var report = ScenarioRun(scenario).play()
        guard seed % repetitionInterval == 0 else { return report }
        if ScenarioRun(scenario).play().digest != report.digest {
            report.violations.append(
                Violation(rule: .repeatable, instant: .zero, text: "the same seed gave other packets the second time"))
        }
        return report
    }

    private func note(_ report: WorldReport, of seed: UInt64) {
        state.withLock { state in
            state.progress.add(report, of: seed)
            guard !report.isClean, isStoppingAtFailure else { return }
            isStopped.store(true, ordering: .relaxed)
        }
    }
}

extension Simulation.Progress {
    mutating func add(_ report: WorldReport, of seed: UInt64) {
        count += 1
        packets.add(report.packetCount)
        operations.add(report.operationCount)
        faults.add(report.faultCount)
        cardCount += report.cardCount
        simulatedTime += report.duration
        digest &+= report.digest.value &* (2 &* seed &+ 1)
        guard !report.isClean else { return }
        failureCount += 1
        let place = failures.firstIndex { $0.seed > seed } ?? failures.count
        failures.insert((seed, report.violations), at: place)
        if failures.count > Simulation.maximumFailures { failures.removeLast() }
    }
}

extension ScenarioKind {
    /// The kind for a seed if none is specified: the kinds take turns.
    public init(of seed: UInt64) { self = Self.inTurn[Int(seed % UInt64(Self.inTurn.count))] }
}
