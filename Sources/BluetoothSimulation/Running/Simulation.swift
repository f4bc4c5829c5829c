import BluetoothAdapter
import BluetoothBase
import Synchronization

/// Plays the worlds of many seeds on several threads.
public final class Simulation: Sendable {
    /// What has become of the worlds so far.
    public struct Progress: Sendable {
        /// Worlds that are over.
        public var count = 0
        /// The seeds of those that failed, with what went wrong first, in ascending order; at most `maximumFailures`.
        public var failures: [(seed: UInt64, violations: [Violation])] = []
        /// How many failed, beyond those kept as well.
        public var failureCount = 0
        public var packets = Distribution()
        public var operations = Distribution()
        public var faults = Distribution()
        public var cardCount = 0
        /// How much time has passed in all the worlds.
        public var simulatedTime = Duration.zero
        /// A digest of all the worlds' digests, whatever their order.
        public var digest: UInt64 = 0
    }

    public static let maximumFailures = 64
    /// Every so many worlds, one is played twice, and has to give the same bytes.
    public static let repetitionInterval: UInt64 = 64

    private let seeds: Range<UInt64>
    private let kind: ScenarioKind?
    private let isStoppingAtFailure: Bool
    private let next: Atomic<UInt64>
    private let isStopped = Atomic(false)
    private let state = Mutex((progress: Progress(), runningJobs: 0))

    /// - Parameters:
    ///   - kind: the kind of scenarios; nil for all of them in turn.
    ///   - stopsAtFailure: whether to end with the first world that fails.
    public init(seeds: Range<UInt64>, kind: ScenarioKind? = nil, stopsAtFailure: Bool = false) {
        self.seeds = seeds
        self.kind = kind
        isStoppingAtFailure = stopsAtFailure
        next = Atomic(seeds.lowerBound)
    }

    /// How many worlds there are to play.
    public var count: UInt64 { UInt64(seeds.count) }

    /// What has been done so far.
    public var progress: Progress { state.withLock { $0.progress } }

    /// Whether all worlds have been played, or it was stopped and the last ones are over.
    public var isOver: Bool { state.withLock { $0.runningJobs == 0 } }

    /// Plays worlds on this thread until there are none left.
    public func run() {
        begin()
        work()
    }

    /// Plays worlds on this many threads of its own. Returns at once.
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

    /// Begins no further world.
    public func stop() { isStopped.store(true, ordering: .relaxed) }

    /// The first seed that has not been played.
    public var nextSeed: UInt64 { min(next.load(ordering: .relaxed), seeds.upperBound) }

    private func begin() { state.withLock { $0.runningJobs += 1 } }

    private func work() {
        while !isStopped.load(ordering: .relaxed) {
            let seed = next.wrappingAdd(1, ordering: .relaxed).oldValue
            guard seed < seeds.upperBound else { break }
            note(Self.play(seed, kind), of: seed)
        }
        state.withLock { $0.runningJobs -= 1 }
    }

    /// Plays the world of a seed; some of them twice.
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
    /// The kind that a seed has if none is asked for: all of them in turn.
    public init(of seed: UInt64) { self = Self.inTurn[Int(seed % UInt64(Self.inTurn.count))] }
}
