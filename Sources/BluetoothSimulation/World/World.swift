import BluetoothAdapter
import BluetoothBase
import BluetoothHCI
import BluetoothLE
import HCITransport
import Synchronization
import VirtualRadio

/// Adapters, the controllers below them and the applications above them, on one air and one virtual clock.
///
/// A world is played on one thread. Time passes only in `run(for:)`, and jumps from one event to the next, so a day on
/// the air takes no longer than its packets. Everything that is random comes from the seed: the same seed, the same calls
/// give the same bytes.
///
///     let world = World(seed: 1)
///     let phone = world.addStation(), sensor = world.addStation()
///     world.spawn { try await runSensor(Adapter.open(sensor)) }
///     world.spawn { try await runPhone(Adapter.open(phone)) }
///     world.run(for: .seconds(60))
///     #expect(world.violations.isEmpty)
public final class World: @unchecked Sendable {
    // Unchecked: everything is used on the thread that plays the world. What may come from another thread, a turn or a
    // job, goes through `foreign`, and is a violation.

    /// The seed of all that is random.
    public let seed: UInt64
    /// The present.
    @exclusivity(unchecked) public private(set) var now = Instant.zero
    /// What has gone wrong, oldest first; at most `maximumViolations`.
    public private(set) var violations: [Violation] = []
    /// How many HCI packets have passed between hosts and controllers.
    @exclusivity(unchecked) public internal(set) var packetCount = 0
    /// A digest of all these packets and of when they passed: equal for equal runs.
    @exclusivity(unchecked) public internal(set) var digest = PacketDigest()
    /// Called for every packet between a host and its controller, as the host sees it.
    @exclusivity(unchecked) public var observePacket: ((Station, PacketDirection, Span<UInt8>) -> Void)?

    @exclusivity(unchecked) var air: Air
    @exclusivity(unchecked) var stations: [Station.State] = []
    /// The stations that have used each random address, in worlds where addresses change.
    @exclusivity(unchecked) var privateAddresses: PrivateAddresses?
    let executor = WorldExecutor()
    /// Where the order of things that happen at one instant comes from.
    @exclusivity(unchecked) var order: SeededGenerator
    @exclusivity(unchecked) private var actions = TimedActions()
    private let thread = Atomic<Int32>(0)
    private var isRunning = false
    private var tasks: [Task<Void, Never>] = []
    private var runningTasks = 0
    private var endings: [() -> Void] = []
    @exclusivity(unchecked) private var requested: [Int] = []
    /// The queues that have a block to run.
    @exclusivity(unchecked) private var readyQueues: [WorldQueue] = []

    public static let maximumViolations = 16
    /// How many turns and jobs there may be at one instant before the world counts as one that never comes to rest.
    static let maximumSteps = 50_000
    /// Whether it never came to rest: then nothing more happens.
    @exclusivity(unchecked) private var isRestless = false

    public init(seed: UInt64) {
        self.seed = seed
        var generator = SeededGenerator(seed: seed)
        air = Air(seed: generator.next())
        order = SeededGenerator(seed: generator.next())
        thread.store(CurrentThread.identifier, ordering: .relaxed)
        executor.world = self
    }

    // MARK: - Time

    /// Lets time pass: everything happens that is due, in order.
    public func run(for duration: Duration) {
        run(until: now.advanced(by: duration))
    }

    /// Lets time pass until `end`.
    public func run(until end: Instant) {
        precondition(!isRunning, "a world cannot be run from inside itself")
        isRunning = true
        defer { isRunning = false }
        thread.store(CurrentThread.identifier, ordering: .relaxed)
        settle()
        while !isRestless, let next = nextEvent, next <= end {
            advance(to: next)
            settle()
        }
        now = max(now, end)
    }

    /// Lets time pass without giving anybody a turn, as for processes that were suspended: all that is due in between
    /// happens late.
    public func jump(by duration: Duration) {
        now = now.advanced(by: duration)
    }

    /// Carries out an action at an instant; at once if it has passed.
    public func schedule(at instant: Instant, _ action: @escaping () -> Void) {
        actions.add(action, at: instant)
    }

    /// The next instant at which something happens by itself.
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

    /// Ends the world: its tasks are cancelled, and nothing happens in it any more. It holds nothing then that holds it.
    ///
    /// A task that does not end within a minute of the world is a violation.
    public func end() {
        if !tasks.isEmpty {
            for task in tasks { task.cancel() }
            run(for: .seconds(60))
            if runningTasks > 0 { fail(.endsOnce, "\(runningTasks) tasks go on, although they are cancelled") }
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
        for index in stations.indices {
            stations[index].host = nil
            stations[index].requester = nil
        }
    }

    /// Does something when the world ends, whose last second follows.
    func atEnd(_ action: @escaping () -> Void) { endings.append(action) }

    // MARK: - One instant

    /// Everything that can happen without time passing: turns of hosts, jobs of tasks, blocks of queues.
    private func settle() {
        guard !isRestless else { return }
        var steps = 0
        while true {
            steps += 1
            guard steps < Self.maximumSteps else {
                isRestless = true
                return fail(.noRest, "turns, blocks and jobs go on for ever at one instant")
            }
            if runBlock() { continue }
            if takeTurn() { continue }
            if executor.runNext(&order) { continue }
            if takePackets() { continue }
            return
        }
    }

    /// Runs the next block of a queue, before or after turns that are due: a queue is a thread of its own.
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

    /// A queue has a block to run.
    func noteReady(_ queue: WorldQueue) {
        if !readyQueues.contains(where: { $0 === queue }) { readyQueues.append(queue) }
    }

    /// Gives one of the hosts that asked for it a turn.
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

    /// Begins a task on this world's thread. It goes on whenever the world runs; what it waits for must happen in the
    /// world. Tasks that it starts itself have to be structured (`async let`, task groups): others leave the world, which
    /// is a violation.
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

    // MARK: - What goes wrong

    /// Records that something is not as it must be.
    public func fail(_ rule: Violation.Rule, _ text: String, at station: Station? = nil) {
        guard violations.count < Self.maximumViolations else { return }
        violations.append(Violation(rule: rule, instant: now, station: station?.index, text: text))
    }

    /// Whether this is the world's thread. Fails the world if not.
    func checkThread(_ what: @autoclosure () -> String) -> Bool {
        if thread.load(ordering: .relaxed) == CurrentThread.identifier { return true }
        executor.noteEscape(what())
        return false
    }

    /// Violations that another thread has caused.
    func takeEscapes() {
        for text in executor.takeEscapes() { fail(.escaped, text) }
    }
}

/// The direction of a packet on HCI.
public enum PacketDirection: Sendable {
    case toController, toHost
}
