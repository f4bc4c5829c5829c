import BluetoothBase
import BluetoothHCI
import HCITransport
import Synchronization
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Time, threads and queues", .timeLimit(.minutes(30)))
struct TimeTests {
    @Test("An idle adapter has no deadline")
    func idle() async throws {
        let scene = try await Scene()
        scene.peripheral.stopAdvertising()
        #expect(try await scene.works())
        for adapter in [scene.central, scene.peripheral] {
            await until { adapter.router.runner.takeTurn() == nil }
        }
    }

    /// Notes when its controller sends something.
    final class Recorder: PacketPortHost {
        private let port: VirtualRadio.Port
        private let instants: Record<Instant>

        init(_ port: VirtualRadio.Port, _ instants: Record<Instant>) { (self.port, self.instants) = (port, instants) }

        func wake() {}
        func unplugged() {}

        func takeTurn() -> Instant? {
            var packets = PacketQueue()
            port.receive(into: &packets)
            if !packets.isEmpty { instants.add(port.radio.now) }
            return nil
        }
    }

    @Test("Manual time passes only when it is advanced, with events in order")
    func manual() async throws {
        let radio = VirtualRadio(time: .manual)
        let instants = Record<Instant>()
        let port = radio.addController { $0.responseDelay = .seconds(2) }
        port.attach(Recorder(port, instants))
        port.send([0x01, 0x03, 0x0C, 0x00].span)
        await radio.advance(by: .milliseconds(1999))
        #expect(instants.all.isEmpty)
        #expect(radio.now == Instant(nanoseconds: 1_999_000_000))
        await radio.advance(by: .seconds(3600))
        #expect(instants.all == [Instant(nanoseconds: 2_000_000_000)])
        #expect(radio.now == Instant(nanoseconds: 3_601_999_000_000))
    }

    @Test("Sleeping adapters notice a controller that is driven without a host")
    func bareController() async throws {
        let radio = VirtualRadio()
        let central = try await Adapter.open(radio.addController())
        let sightings = central.scan()
        // Nobody sits on this controller, so nobody minds when it next advertises.
        radio.addController().send([0x01, 0x0A, 0x20, 0x01, 0x01].span)
        #expect(try await sightings.first() != nil)
    }

    @Test("A timeout does not affect a result or an error that arrives in time")
    func timeout() async throws {
        let value = try await withTimeout(.seconds(60)) { () throws(BluetoothError) in 7 }
        #expect(value == 7)
        await #expect(throws: BluetoothError.overflow) {
            try await withTimeout(.seconds(60)) { () throws(BluetoothError) in throw .overflow }
        }
        let task = Task {
            try await withTimeout(.seconds(60)) { () throws(BluetoothError) in
                _ = try await AsyncQueue<Int>(capacity: 1, overflow: .fail).next()
            }
        }
        task.cancel()
        await #expect(throws: BluetoothError.cancelled) { try await task.value }
    }

    /// A clock that stands still until it is set. As with the system's, a sleep does not end before its time.
    final class SetClock: Clock {
        struct State {
            var now = Instant.zero
            var sleepers: [(deadline: Instant, continuation: CheckedContinuation<Void, Never>)] = []
        }

        let state = Mutex(State())

        var now: Instant { state.withLock { $0.now } }
        var minimumResolution: Duration { .nanoseconds(1) }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if deadline > state.now { state.sleepers.append((deadline, continuation)) }
                    return deadline <= state.now
                }
                if isOver { continuation.resume() }
            }
        }

        func set(to seconds: UInt64) {
            let woken = state.withLock { state in
                state.now = Instant(nanoseconds: seconds * 1_000_000_000)
                let woken = state.sleepers.filter { $0.deadline <= state.now }
                state.sleepers.removeAll { $0.deadline <= state.now }
                return woken
            }
            for sleeper in woken { sleeper.continuation.resume() }
        }
    }

    @Test("One task sleeps for all timeouts, and a cancelled timeout is removed at once")
    func alarm() async throws {
        let clock = SetClock()
        let alarm = Alarm(clock)
        let woken = Record<UInt64>()
        func wait(_ seconds: UInt64) async -> Task<Void, any Error> {
            let count = alarm.counts.waits
            let task = Task {
                try await alarm.sleep(until: Instant(nanoseconds: seconds * 1_000_000_000))
                woken.add(seconds)
            }
            await until { alarm.counts.waits > count }
            return task
        }
        for _ in 0..<100 {
            let task = await wait(6)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(alarm.counts == (0, 1))
        }
        // Later ones need no other sleep, and an earlier one does.
        let (late, later) = (await wait(7), await wait(8))
        #expect(alarm.counts == (2, 1))
        let early = await wait(3)
        #expect(alarm.counts == (3, 2))
        clock.set(to: 3)
        try await early.value
        clock.set(to: 7)
        try await late.value
        #expect(woken.all == [3, 7])
        clock.set(to: 9)
        try await later.value
        await until { alarm.counts == (0, 0) }
        // A task that is cancelled before the wait does not wait.
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await alarm.sleep(until: Instant(nanoseconds: .max))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(alarm.counts == (0, 0))
    }

    @Test("Timeouts that never expire leak no memory")
    func memory() async {
        await #expect(processExitsWith: .success) {
            func rounds(_ count: Int) async throws {
                for _ in 0..<count {
                    try await withTimeout(.seconds(3600)) { () throws(BluetoothError) in await Task.yield() }
                }
            }
            try await rounds(1000)
            let before = UnplugTests.residentPages
            try await rounds(10_000)
            let growth = UnplugTests.residentPages - before
            precondition(before > 0 && growth < 2048, "\(growth) pages for 10,000 timeouts")
        }
    }

    @Test(
        "A full queue follows its overflow policy",
        arguments: [
            (AsyncQueue<Int>.Overflow.dropOldest, [2, 3], nil), (.dropNewest, [1, 2], nil),
            (.fail, [1, 2], BluetoothError.overflow),
        ], [false, true])
    func overflow(
        _ policy: (overflow: AsyncQueue<Int>.Overflow, expected: [Int], end: BluetoothError?), isBatch: Bool
    ) async throws {
        let (overflow, expected, end) = policy
        let queue = AsyncQueue<Int>(capacity: 2, overflow: overflow)
        if isBatch {
            queue.push([0, 1, 2, 3, 4], in: 1..<4)
        } else {
            let taken = (1...3).map { queue.push($0) }
            #expect(taken == [true, true, overflow == .dropOldest])
        }
        queue.finish()
        let sequence = EventSequence(queue) {}
        var iterator = sequence.makeAsyncIterator()
        for element in expected { #expect(try await iterator.next() == element) }
        #expect(await sequence.end() == end)
        #expect(!queue.push(4))
    }

    @Test("Each element of a queue goes to one consumer, and the end goes to all")
    func consumers() async throws {
        let queue = AsyncQueue<Int>(capacity: 10_000, overflow: .fail)
        let sequence = EventSequence(queue) {}
        let taken = await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    var own: [Int] = []
                    do { for try await element in sequence { own.append(element) } } catch {}
                    return own
                }
            }
            for number in 0..<2500 { queue.push(number) }
            let rest = Array(2500..<5000)
            for start in stride(from: 0, to: rest.count, by: 5) { queue.push(rest, in: start..<start + 5) }
            queue.finish()
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(taken.sorted() == Array(0..<5000))
    }

    @Test("Waiting consumers are served in order, without those whose task was cancelled", arguments: 0..<4)
    func order(ofCancelled cancelled: Int) async {
        let queue = AsyncQueue<[UInt8]>(capacity: 10, overflow: .fail)
        let executors = (0..<4).map { _ in StepExecutor() }
        let tasks = executors.map { executor in
            let consumer = StepConsumer(executor)
            return Task { await consumer.take(from: queue) }
        }
        for executor in executors { await executor.step() }
        tasks[cancelled].cancel()
        #expect(queue.waiterCount == 3)
        // The first two are handed their values, and keep them. The third gets the end.
        let values: [[UInt8]] = [[1, 2], [3, 4]]
        var areHanded: [Bool] = []
        for value in values { areHanded.append(queue.hand(value.span)) }
        queue.finish()
        for value in values[..<1] { areHanded.append(queue.hand(value.span)) }
        #expect(areHanded == [true, true, false] && queue.waiterCount == 0)
        for executor in executors { await executor.step() }
        let rest = (0..<4).filter { $0 != cancelled }
        for (index, value) in zip(rest, values + [nil]) { #expect(await tasks[index].value == .success(value)) }
        #expect(await tasks[cancelled].value == .failure(.cancelled))
    }

    @Test("A batch wakes as many consumers as it has elements")
    func batch() async {
        let queue = AsyncQueue<Int>(capacity: 10, overflow: .fail)
        let executors = (0..<3).map { _ in StepExecutor() }
        let tasks = executors.map { executor in
            let consumer = StepConsumer(executor)
            return Task { await consumer.take(from: queue) }
        }
        for executor in executors { await executor.step() }
        #expect(queue.waiterCount == 3)
        queue.push([1, 2], in: 0..<2)
        #expect(queue.waiterCount == 1)
        for executor in executors[..<2] { await executor.step() }
        #expect(await tasks[0].value == .success(1))
        #expect(await tasks[1].value == .success(2))
        queue.finish()
        await executors[2].step()
        #expect(await tasks[2].value == .success(nil))
    }
}
