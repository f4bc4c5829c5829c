import BluetoothBase
import BluetoothHCI
import HCITransport
import Synchronization
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Time, threads and queues", .timeLimit(.minutes(5)))
struct TimeTests {
    @Test("An adapter with nothing to do waits for nothing")
    func idle() async throws {
        let scene = try await Scene()
        await scene.peripheral.stopAdvertising()
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

    @Test("Time that is manual passes in order, and stands still otherwise")
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

    @Test("What is done from outside any host is noticed by those that sleep")
    func bareController() async throws {
        let radio = VirtualRadio()
        let central = try await Adapter.open(radio.addController())
        let sightings = try await central.scan()
        // Nobody sits on this controller, so nobody minds when it next advertises.
        radio.addController().send([0x01, 0x0A, 0x20, 0x01, 0x01].span)
        #expect(try await sightings.first() != nil)
    }

    @Test("A deadline leaves a result that came in time alone")
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

    @Test(
        "A full queue gives up what it is told to",
        arguments: [
            (AsyncQueue<Int>.Overflow.dropOldest, [2, 3], nil), (.dropNewest, [1, 2], nil),
            (.fail, [1, 2], BluetoothError.overflow),
        ])
    func overflow(_ overflow: AsyncQueue<Int>.Overflow, _ expected: [Int], _ end: BluetoothError?) async throws {
        let queue = AsyncQueue<Int>(capacity: 2, overflow: overflow)
        let taken = (1...3).map { queue.push($0) }
        #expect(taken == [true, true, overflow == .dropOldest])
        queue.finish()
        let sequence = EventSequence(queue) {}
        var iterator = sequence.makeAsyncIterator()
        for element in expected { #expect(try await iterator.next() == element) }
        #expect(await sequence.end() == end)
        #expect(!queue.push(4))
    }

    @Test("Consumers of one queue get each element once, and its end each")
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
            for number in 0..<5000 { queue.push(number) }
            queue.finish()
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(taken.sorted() == Array(0..<5000))
    }
}
