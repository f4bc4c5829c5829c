import BluetoothAdapter
import BluetoothBase
import BluetoothHCI
import BluetoothLE
import BluetoothPlatform
import HCITransport
import Synchronization
import VirtualRadio

/// Adapters, the controllers below them and the applications above them, on one air with one virtual clock.
///
/// A world runs on one thread. Time passes only in `run(for:)`, and jumps from one event to the next, so an idle day
/// takes almost no real time. The seed is the only source of randomness: the same seed and the same calls produce the
/// same bytes.
///
///     let world = World(seed: 1)
///     let phone = world.addStation(), sensor = world.addStation()
///     world.spawn { try await runSensor(Adapter.open(sensor)) }
///     world.spawn { try await runPhone(Adapter.open(phone)) }
///     world.run(for: .seconds(60))
///     #expect(world.violations.isEmpty)
public final class World: @unchecked Sendable {
    // Unchecked: everything is used on the thread that runs the world. Turns and jobs requested on other threads are
    // detected by `checkThread`, and are violations.

    /// The seed of everything random.
    public let seed: UInt64
    /// The current time.
    @exclusivity(unchecked) public private(set) var now = Instant.zero
    /// The violations so far, oldest first; at most `maximumViolations`.
    public private(set) var violations: [Violation] = []
    /// The number of HCI packets that have passed between hosts and controllers.
    @exclusivity(unchecked) public internal(set) var packetCount = 0
    /// A digest of all these packets and their times, equal for equal runs.
    @exclusivity(unchecked) public internal(set) var digest = PacketDigest()
    /// Called for every packet between a host and its controller, as the host sees it.
    @exclusivity(unchecked) public var observePacket: ((Station, PacketDirection, Span<UInt8>) -> Void)?

    @exclusivity(unchecked) var air: Air
    @exclusivity(unchecked) var stations: [Station.State] = []
    /// The stations that have used each random address, in worlds where addresses change.
    @exclusivity(unchecked) var privateAddresses: PrivateAddresses?
    let executor = WorldExecutor()
    /// The random order of events at the same instant.
    @exclusivity(unchecked) var order: SeededGenerator
    @exclusivity(unchecked) private var actions = TimedActions()
    private let thread = Atomic<Int32>(0)
    private var isRunning = false
    private var tasks: [Task<Void, Never>] = []
    private var runningTasks = 0
    private var endings: [() -> Void] = []
    /// The conditions that must always hold.
    private var invariants: [(text: String, holds: () -> Bool)] = []
    @exclusivity(unchecked) private var requested: [Int] = []
    /// The queues with blocks to run.
    @exclusivity(unchecked) private var readyQueues: [WorldQueue] = []

    /// The maximum number of violations that a world records. Later ones are dropped.
    public static let maximumViolations = 16
    /// The maximum number of turns and jobs at one instant. Beyond it, the world is considered never to come to rest.
    static let maximumSteps = 50_000
    /// Whether the world failed to come to rest. It then stops.
    @exclusivity(unchecked) private var isRestless = false

    /// Creates a world without stations, at time zero. It belongs to the current thread, or to the thread that runs it
    /// later.
    public init(seed: UInt64) {
        self.seed = seed
        var generator = SeededGenerator(seed: seed)
        air = Air(seed: generator.next())
        order = SeededGenerator(seed: generator.next())
        thread.store(CurrentThread.identifier, ordering: .relaxed)
        executor.world = self
    }

    // MARK: - Time

    /// Advances time. Everything that is due happens in order.
    public func run(for duration: Duration) {
        run(until: now.advanced(by: duration))
    }

    /// Advances time to `end`.
    public func run(until end: Instant) {
        precondition(!isRunning, "a world cannot be run from inside itself")
        isRunning = true
        defer { isRunning = false }
        thread.store(CurrentThread.identifier, ordering: .relaxed)
        settle()
        checkInvariants()
        while !isRestless, let next = nextEvent, next <= end {
            advance(to: next)
            settle()
            checkInvariants()
        }
        now = max(now, end)
    }

    /// Advances time without giving any host a turn, as if all processes were suspended. Everything due in between
    /// happens late.
    public func jump(by duration: Duration) {
        now = now.advanced(by: duration)
    }

    /// Performs an action at an instant, or as soon as the world runs if the instant has passed.
    public func schedule(at instant: Instant, _ action: @escaping () -> Void) {
        actions.add(action, at: instant)
    }

    /// The next instant at which something is due.
    var nextEvent: Instant? {
        var next = earliest(air.nextDeadline, actions.nextDeadline)
        for station in stations { next = earliest(next, station.nextDeadline(after: now)) }
        return next
    }

    private func advance(to instant: Instant) {
        now = max(now, instant)
        air.fire(at: now)
        for index in stations.indices {
            stations[index].hasDeclined = false
            if stations[index].isDue(at: now) { requested.append(index) }
        }
        while let action = actions.popFirst(at: now) { action() }
    }

    /// Ends the world: its tasks are cancelled, and nothing happens in it afterwards. The world then releases
    /// everything that could keep it alive.
    ///
    /// A task that does not finish within a minute of virtual time is a violation.
    public func end() {
        if !tasks.isEmpty {
            for task in tasks { task.cancel() }
            run(for: .seconds(60))
            if runningTasks > 0 { fail(.endsOnce, "\(runningTasks) tasks are still running after they were cancelled") }
            tasks = []
        }
        if !endings.isEmpty {
            let endings = self.endings
            self.endings = []
            for ending in endings { ending() }
            run(for: .seconds(1))
        }
        takeEscapes()
        actions = TimedActions()
        requested = []
        readyQueues = []
        observePacket = nil
        invariants = []
        for index in stations.indices {
            stations[index].host = nil
            stations[index].requester = nil
        }
    }

    /// Performs an action when the world ends. One more second of virtual time follows.
    func atEnd(_ action: @escaping () -> Void) { endings.append(action) }

    // MARK: - One instant

    /// Performs everything that can happen without time passing: turns of hosts, jobs of tasks, and blocks of queues.
    private func settle() {
        guard !isRestless else { return }
        var steps = 0
        while true {
            steps += 1
            guard steps < Self.maximumSteps else {
                isRestless = true
                return fail(.noRest, "turns, blocks and jobs never end at one instant")
            }
            if runBlock() { continue }
            if takeTurn() { continue }
            if executor.runNext(&order) { continue }
            if takePackets() { continue }
            return
        }
    }

    /// Runs the next block of a queue, before or after turns that are due, because a queue is like a separate thread.
    private func runBlock() -> Bool {
        guard !readyQueues.isEmpty, requested.isEmpty || order.oneIn(2) else { return false }
        let pick = readyQueues.count == 1 ? 0 : order.below(readyQueues.count)
        let queue = readyQueues[pick]
        guard let block = queue.next() else {
            readyQueues.remove(at: pick)
            return true
        }
        block()
        return true
    }

    /// Notes that a queue has a block to run.
    func noteReady(_ queue: WorldQueue) {
        if !readyQueues.contains(where: { $0 === queue }) { readyQueues.append(queue) }
    }

    /// Gives a turn to one of the hosts that requested it.
    private func takeTurn() -> Bool {
        guard !requested.isEmpty else { return false }
        let pick = requested.count == 1 ? 0 : Int(order.next() % UInt64(requested.count))
        let index = requested.remove(at: pick)
        if let end = stations[index].stalledUntil, end > now {
            stations[index].deadline = earliest(stations[index].deadline, end)
            return true
        }
        let hosts = (stations[index].requester, stations[index].host)
        stations[index].requester = nil
        let host = hosts.0 ?? hosts.1
        stations[index].deadline = host?.takeTurn()
        return true
    }

    /// Requests a turn for each host that has packets to receive.
    private func takePackets() -> Bool {
        for index in stations.indices where hasPackets(for: index) {
            stations[index].hasDeclined = true
            request(index)
        }
        return !requested.isEmpty
    }

    func request(_ index: Int) {
        if !requested.contains(index) { requested.append(index) }
    }

    // MARK: - Tasks

    /// Starts a task on this world's thread. It continues whenever the world runs, and may only wait for events in the
    /// world. Tasks that it starts must be structured (`async let`, task groups). Unstructured tasks leave the world's
    /// thread, which is a violation.
    @discardableResult
    public func spawn(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        runningTasks += 1
        let task = Task(executorPreference: executor) {
            await TimeLimits.$clock.withValue(self.clock) { await body() }
            self.runningTasks -= 1
        }
        tasks.append(task)
        return task
    }

    // MARK: - Violations

    /// Records a violation.
    public func fail(_ rule: Violation.Rule, _ text: String, at station: Station? = nil) {
        guard violations.count < Self.maximumViolations else { return }
        violations.append(Violation(rule: rule, instant: now, station: station?.index, text: text))
    }

    /// Requires a condition to hold whenever nothing is left to do at an instant, until the world ends. If it does not,
    /// that is a violation of the rule `application`, which is recorded once.
    ///
    ///     world.always("readings are in order") {
    ///         app.readings == app.readings.sorted()
    ///     }
    public func always(_ text: String, _ holds: @escaping () -> Bool) { invariants.append((text, holds)) }

    private func checkInvariants() {
        guard !invariants.isEmpty else { return }
        invariants.removeAll { invariant in
            if invariant.holds() { return false }
            fail(.application, "not always: \(invariant.text)")
            return true
        }
    }

    /// Whether this is the world's thread. Records a violation if not.
    func checkThread(_ what: @autoclosure () -> String) -> Bool {
        if thread.load(ordering: .relaxed) == CurrentThread.identifier { return true }
        executor.noteEscape(what())
        return false
    }

    /// Collects the violations caused by other threads.
    func takeEscapes() {
        for text in executor.takeEscapes() { fail(.escaped, text) }
    }
}

/// The direction of a packet on HCI.
public enum PacketDirection: Sendable {
    case toController, toHost
}
