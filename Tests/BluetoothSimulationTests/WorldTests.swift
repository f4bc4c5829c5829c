import BluetoothAdapter
import BluetoothBase
import BluetoothGATT
import BluetoothLE
import Synchronization
import Testing

@testable import BluetoothSimulation

@Suite("Time and tasks of a world")
struct WorldTests {
    @Test("Actions run in order of their time, and in order of scheduling if the times are equal")
    func actions() {
        let world = World(seed: 1)
        var seen: [Int] = []
        for (number, milliseconds) in [30, 10, 20, 10, 30].enumerated() {
            world.schedule(at: .zero.advanced(by: .milliseconds(milliseconds))) { seen.append(number) }
        }
        world.run(for: .milliseconds(25))
        #expect(seen == [1, 3, 2])
        world.run(for: .milliseconds(5))
        #expect(seen == [1, 3, 2, 0, 4])
        #expect(world.now == .zero.advanced(by: .milliseconds(30)))
    }

    @Test("Tasks sleep on the world's clock, and wake when cancelled")
    func sleeping() {
        let world = World(seed: 1)
        let seen = Mutex<[String]>([])
        let clock = world.clock
        @Sendable func note(_ what: String) {
            seen.withLock { $0.append("\(clock.now.nanoseconds / 1_000_000) \(what)") }
        }
        world.spawn {
            try? await clock.sleep(for: .seconds(3))
            note("woke")
        }
        let second = world.spawn {
            do {
                try await clock.sleep(for: .seconds(100))
                note("slept")
            } catch {
                note("cancelled")
            }
        }
        world.schedule(at: .zero.advanced(by: .seconds(5))) { second.cancel() }
        world.run(for: .seconds(10))
        world.end()
        #expect(seen.withLock { $0 } == ["3000 woke", "5000 cancelled"])
        #expect(world.violations.isEmpty)
    }

    @Test("Work that happens outside the world is detected")
    func escaping() async {
        let world = World(seed: 1)
        let outside = AsyncStream<Void>.makeStream()
        world.spawn { for await _ in outside.stream { return } }
        world.run(for: .seconds(1))
        // From a thread that is not the world's.
        await Task.detached { await onAnotherThread { _ = outside.continuation.yield() } }.value
        world.end()
        #expect(world.violations.map(\.rule) == [.escaped])
    }

    @Test("A cancelled task that does not end is detected")
    func endless() {
        let world = World(seed: 1)
        let continuation = Mutex<UnsafeContinuation<Void, Never>?>(nil)
        world.spawn { await withUnsafeContinuation { waiting in continuation.withLock { $0 = waiting } } }
        world.run(for: .seconds(1))
        world.end()
        #expect(world.violations.map(\.rule) == [.endsOnce])
        continuation.withLock { $0?.resume() }
    }

    @Test("A station that is unplugged and plugged in again becomes ready again")
    func plugging() {
        let world = World(seed: 1)
        let station = world.addStation()
        let seen = Mutex<[String]>([])
        world.spawn {
            guard let adapter = try? await Adapter.open(station, options: .init(seed: 1)) else { return }
            var events = adapter.events().makeAsyncIterator()
            while let event = try? await events.next() {
                switch event {
                case .removed: seen.withLock { $0.append("removed") }
                case .ready: seen.withLock { $0.append("ready") }
                default: seen.withLock { $0.append("\(event)") }
                }
            }
        }
        world.run(for: .seconds(1))
        world.unplug(0)
        world.run(for: .seconds(1))
        world.plugIn(0)
        world.run(for: .seconds(10))
        world.end()
        #expect(seen.withLock { $0 } == ["removed", "ready"])
        #expect(world.violations.isEmpty)
    }
}

/// Runs `body` on a thread of its own.
private func onAnotherThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        let run = {
            body()
            continuation.resume()
        }
        do { try startThread(run) } catch { continuation.resume() }
    }
}
