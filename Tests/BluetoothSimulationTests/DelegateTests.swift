import BluetoothAdapter
import BluetoothHost
import CoreBluetooth
import Synchronization
import Testing

@testable import BluetoothSimulation

@Suite("Core Bluetooth delegates in a world")
struct DelegateTests {
    @Test("The blocks of a queue run in order, and never inside the call that enqueues them")
    func blocks() {
        let world = World(seed: 1)
        let first = WorldQueue(world), second = WorldQueue(world)
        let seen = Mutex<[String]>([])
        for number in 0..<20 {
            for (name, queue) in [("a", first), ("b", second)] {
                queue.enqueue { seen.withLock { $0.append("\(name)\(number)") } }
            }
        }
        #expect(seen.withLock { $0 } == [])
        world.run(for: .zero)
        let all = seen.withLock { $0 }
        #expect(all.filter { $0.hasPrefix("a") } == (0..<20).map { "a\($0)" })
        #expect(all.filter { $0.hasPrefix("b") } == (0..<20).map { "b\($0)" })
        let isInTurn = zip(all, all.dropFirst()).allSatisfy { $0.prefix(1) != $1.prefix(1) }
        #expect(!isInTurn, "the seed decides between queues")
    }

    @Test("A suspended queue runs nothing until it is resumed")
    func suspended() {
        let world = World(seed: 1)
        let queue = WorldQueue(world)
        let count = Atomic(0)
        queue.suspend()
        queue.enqueue { count.add(1, ordering: .relaxed) }
        world.run(for: .seconds(1))
        #expect(count.load(ordering: .relaxed) == 0)
        queue.resume()
        world.run(for: .zero)
        #expect(count.load(ordering: .relaxed) == 1)
    }

    @Test("A block from another thread fails the world, and does not run")
    func escaping() async {
        let world = World(seed: 1)
        let queue = WorldQueue(world)
        let count = Atomic(0)
        await withCheckedContinuation { continuation in
            let run: @Sendable () -> Void = {
                queue.enqueue { count.add(1, ordering: .relaxed) }
                continuation.resume()
            }
            do { try startThread(run) } catch { continuation.resume() }
        }
        world.run(for: .seconds(1))
        world.takeEscapes()
        #expect(count.load(ordering: .relaxed) == 0)
        #expect(world.violations.map(\.rule) == [.escaped])
    }

    @Test("A manager in a world reports its state on the world's clock, and never during its initialization")
    func states() throws {
        let world = World(seed: 1)
        let station = world.addStation()
        let runner = try AdapterRunner(station, options: .init(host: HostConfiguration(seed: 1)))
        let queue = WorldQueue(world)
        let environment = VirtualEnvironment(runner, adapterQueue: WorldQueue(world), seed: 1) { _ in queue }
        let listener = StateListener()
        let manager = environment.with { CBCentralManager(delegate: listener, queue: nil) }
        #expect(listener.states == [])
        world.run(for: .seconds(1))
        #expect(listener.states == [.poweredOn])
        world.unplug(0)
        world.run(for: .seconds(1))
        world.plugIn(0)
        world.run(for: .seconds(10))
        #expect(listener.states == [.poweredOn, .resetting, .poweredOn])
        #expect(manager.state == .poweredOn)
        runner.close()
        world.end()
        #expect(world.violations.isEmpty)
    }

    @Test("A world with delegates is reproducible, byte for byte")
    func repeatable() throws {
        let seed = try #require((0..<100).first { Scenario(seed: $0).devices.joinedFaces.contains(.delegates) })
        let first = ScenarioRun(Scenario(seed: seed)).play(), second = ScenarioRun(Scenario(seed: seed)).play()
        #expect(first == second && first.isClean)
    }
}

private final class StateListener: NSObject, CBCentralManagerDelegate {
    var states: [CBManagerState] = []

    func centralManagerDidUpdateState(_ central: CBCentralManager) { states.append(central.state) }
}

extension [Scenario.Device] {
    fileprivate var joinedFaces: [Scenario.Face] { flatMap { $0.users.map(\.face) } }
}
