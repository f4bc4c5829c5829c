import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHost
import BluetoothLE
import VirtualRadio

/// A user that works with `BluetoothLE`. Each action is a task, and some tasks are cancelled wherever they wait.
final class TaskUser: SimulatedUser, @unchecked Sendable {
    // Unchecked: only used on the world's thread, by tasks that run there.

    let run: ScenarioRun
    let station: Int
    let number: Int
    private(set) var callCount = 0
    private var adapter: Adapter?
    private var tasks: AsyncStream<Work>.Continuation?
    /// The most recent links from `connect`.
    var connections: [Connection] = []
    /// The attributes discovered on those links.
    var databases: [Connection: DiscoveredDatabase] = [:]
    private var scanCount = 0
    private(set) var wantsAdvertising = false
    /// The number of times the user has stopped advertising.
    private var stopCount = 0
    /// Calls that have not ended, by number.
    private var pending: [Int: Scenario.Action.Kind] = [:]
    /// The actions that end scans and connection attempts.
    private var stops: [(kind: Scenario.Action.Kind, cancel: @Sendable () -> Void)] = []
    private var generator: SeededGenerator

    private struct Work: Sendable {
        var kind: Scenario.Action.Kind
        /// The time after which the task is cancelled; nil for never.
        var deadline: Duration?
        var body: @Sendable (Adapter) async throws(BluetoothError) -> Void
    }

    init(_ run: ScenarioRun, station: Int, number: Int) {
        self.run = run
        self.station = station
        self.number = number
        generator = SeededGenerator(seed: run.world.order.next())
    }

    /// The last time at which frames were seen queued at this station.
    var lastCrowd: Instant?

    /// The stations with which the user has requested pairing.
    var pairedWith: Set<Int> = []

    func wantsPairing(with station: Int) -> Bool { pairedWith.contains(station) }

    var isAttached: Bool { adapter != nil }
    var wantsScan: Bool { scanCount > 0 }
    var linkCount: Int { run.world.air[run.world.stations[station].controller].connectionCount }

    func isSubscribed(to characteristic: SimulatedService.Characteristic, of station: Int) -> Bool {
        // The service may have moved since discovery.
        guard let handle = run.handle(of: characteristic, at: station) else { return false }
        return subscriptions.contains(Subscription(characteristic: characteristic, handle: handle, station: station))
    }

    func isSubscribedByOldHandles(of station: Int) -> Bool {
        subscriptions.contains { $0.station == station && $0.handle != run.handle(of: $0.characteristic, at: station) }
    }

    /// Always nil: each task of this user may have its own subscription, and checks its values itself.
    func lastReceived(of stream: UInt32, from station: Int) -> UInt32? { nil }

    /// The current subscriptions, one for each task that waits for values.
    var subscriptions: [Subscription] = []

    struct Subscription: Equatable {
        var characteristic: SimulatedService.Characteristic
        /// The value handle at the time of discovery.
        var handle: AttributeHandle
        var station: Int
    }

    func ended(_ subscription: Subscription) {
        guard let index = subscriptions.firstIndex(of: subscription) else { return }
        subscriptions.remove(at: index)
    }

    // MARK: - Tasks

    func join() {
        guard adapter == nil else { return }
        let adapter = Adapter(run.runners[station])
        self.adapter = adapter
        let (works, continuation) = AsyncStream.makeStream(of: Work.self)
        tasks = continuation
        run.world.spawn { [self] in
            await withDiscardingTaskGroup { group in
                for await work in works { group.addTask { await self.perform(work, adapter) } }
            }
        }
    }

    func leave() {
        guard let adapter else { return }
        tasks?.finish()
        tasks = nil
        self.adapter = nil
        wantsAdvertising = false
        connections = []
        databases = [:]
        run.world.spawn { await adapter.close() }
    }

    func start(
        _ kind: Scenario.Action.Kind, cancelledIn deadline: Duration? = nil,
        _ body: @escaping @Sendable (Adapter) async throws(BluetoothError) -> Void
    ) {
        callCount += 1
        tasks?.yield(Work(kind: kind, deadline: deadline, body: body))
    }

    /// Performs some work, and cancels it at its deadline. It always ends, and its error must match what happened.
    private func perform(_ work: Work, _ adapter: Adapter) async {
        let call = callNumber
        callNumber += 1
        pending[call] = work.kind
        let clock = run.world.clock
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { [self] in
                await carryOut(work, adapter)
                return true
            }
            if let deadline = work.deadline {
                group.addTask {
                    try? await clock.sleep(for: deadline)
                    return false
                }
            }
            _ = await group.next()
            group.cancelAll()
        }
        pending[call] = nil
    }

    private var callNumber = 0

    private func carryOut(_ work: Work, _ adapter: Adapter) async {
        do throws(BluetoothError) {
            try await work.body(adapter)
        } catch {
            if !fits(error, work, adapter) { fail(.fittingReason, "\(work.kind.rawValue) threw “\(error)”") }
        }
    }

    private func fits(_ error: BluetoothError, _ work: Work, _ adapter: Adapter) -> Bool {
        let hasLeft = self.adapter !== adapter
        return switch error.code {
        // A new advertisement replaces one that has not started, and another task may end a subscription.
        case .cancelled: Task.isCancelled || hasLeft || [.subscribe, .card, .advertise].contains(work.kind)
        case .adapterClosed: hasLeft
        case .adapterRemoved, .notReady, .transport, .adapter: run.hasFaults(station)
        default: true
        }
    }

    func fail(_ rule: Violation.Rule, _ text: String) {
        run.world.fail(rule, "user \(number): \(text)", at: run.world.station(station))
    }

    // MARK: - Actions

    func perform(_ action: Scenario.Action) {
        guard isAttached else {
            if action.kind == .join { join() }
            return
        }
        var pick = SeededGenerator(seed: action.pick)
        // One call in four is cancelled at a random time.
        let deadline: Duration? = pick.oneIn(4) ? .microseconds([0, 1_000, 30_000, 500_000][pick.below(4)]) : nil
        switch action.kind {
        case .leave: leave()
        case .join: return
        case .advertise: advertise(&pick)
        case .stopAdvertising:
            start(.stopAdvertising) { [self] adapter in
                stopCount += 1
                adapter.stopAdvertising()
                wantsAdvertising = false
            }
        case .scan: scan(&pick)
        case .stopScanning: stop(.scan)
        case .cancel: stop(.connect)
        case .connect: connect(&pick, deadline)
        default:
            guard let connection = pick.element(of: connections) else { return }
            perform(action.kind, on: connection, deadline, &pick)
        }
    }

    private func advertise(_ pick: inout SeededGenerator) {
        var advertisement = AdvertisementData()
        advertisement.flags = [.generalDiscoverable, .brEDRNotSupported]
        advertisement.serviceUUIDs = [SimulatedService.uuid]
        let request = advertisement
        let interval = Duration.milliseconds(100 + 200 * pick.below(5))
        start(.advertise) { [self] adapter throws(BluetoothError) in
            let stops = stopCount
            do throws(BluetoothError) {
                try await adapter.advertise(request, interval: interval...(interval + .milliseconds(50)))
                // It may have been stopped before this task resumed.
                wantsAdvertising = self.adapter === adapter && stopCount == stops
            } catch {
                // The previous advertisement may or may not still be active.
                stopCount += 1
                adapter.stopAdvertising()
                if self.adapter === adapter { wantsAdvertising = false }
                throw error
            }
        }
    }

    private func scan(_ pick: inout SeededGenerator) {
        guard scanCount < 3 else { return }
        let filter = pick.oneIn(2) ? ScanFilter() : ScanFilter(services: [SimulatedService.uuid])
        let gate = Gate()
        stops.append((.scan, { gate.open() }))
        start(.scan) { [self] adapter throws(BluetoothError) in
            let sightings = adapter.scan(for: filter)
            scanCount += 1
            defer { scanCount -= 1 }
            let end = await withTaskGroup(of: BluetoothError?.self) { group in
                group.addTask { await Self.exhaust(sightings) }
                group.addTask {
                    await gate.wait()
                    return nil
                }
                let first = await group.next() ?? nil
                group.cancelAll()
                return first
            }
            if let end { throw end }
        }
    }

    /// Takes sightings until the sequence ends. Returns why it did.
    private static func exhaust(_ sightings: EventSequence<Sighting>) async -> BluetoothError? {
        do throws(BluetoothError) {
            for try await _ in sightings {}
            return nil
        } catch {
            return error
        }
    }

    private func stop(_ kind: Scenario.Action.Kind) {
        guard let index = stops.firstIndex(where: { $0.kind == kind }) else { return }
        stops.remove(at: index).cancel()
    }

    private func connect(_ pick: inout SeededGenerator, _ deadline: Duration?) {
        let peer = (station + 1 + pick.below(run.world.stationCount - 1)) % run.world.stationCount
        let address = run.address(of: peer)
        let timeout: Duration = .milliseconds(200 + pick.below(10_000))
        start(.connect, cancelledIn: deadline) { [self] adapter throws(BluetoothError) in
            let limit = run.world.now.advanced(by: timeout + .seconds(1))
            // Checks the time limit however the call ends.
            defer { checkTime(limit) }
            let connection = try await adapter.connect(to: address, timeout: timeout)
            guard self.adapter === adapter else { return }
            connections = connections.suffix(7) + [connection]
            databases = databases.filter { connections.contains($0.key) }
        }
    }

    private func checkTime(_ limit: Instant) {
        guard run.world.now > limit, !run.hasFaults(station), !run.hasSecurity else { return }
        fail(.fittingReason, "connect was still pending after its time limit")
    }

    func calm() {
        for stop in stops where stop.kind == .connect || !generator.oneIn(4) { stop.cancel() }
    }

    func checkQuiet() {
        let open = pending.values.filter { $0 != .scan && $0 != .subscribe }.map(\.rawValue).sorted()
        if !open.isEmpty { fail(.endsOnce, "calls that never ended: \(open.joined(separator: ", "))") }
    }
}

/// A wait that ends when another task opens the gate.
private final class Gate: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream(of: Never.self) }

    func open() { continuation.finish() }

    func wait() async { for await _ in stream {} }
}
