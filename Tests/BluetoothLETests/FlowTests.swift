import AdapterTestSupport
import BluetoothAdapter
@testable import BluetoothHost
@testable import BluetoothUsers
import Synchronization
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Slow consumers and waiting senders", .timeLimit(.minutes(30)))
struct FlowTests {
    static func value(_ number: Int) -> [UInt8] {
        [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)] + [UInt8](repeating: 7, count: 510)
    }

    @Test("A stalled consumer loses its own link and no other, and still gets the values kept for it")
    func stalled() async throws {
        let scene = try await Scene(time: .manual)
        let (radio, central) = (scene.radio, scene.central)
        let (stalled, subscriber) = try await scene.subscribe(to: Scene.notified)
        let (other, service, values) = try await radio.passing {
            let other = try await Adapter.open(radio.addController())
            let service = try await other.publish(Scene.definition)
            try await other.advertise(AdvertisementData(name: "Other"))
            let link = try await central.connect(to: try #require(other.information?.address))
            return (other, service, try await link.notifications(of: try scene.remote(Scene.notified)))
        }
        let prompt = try #require(service[Scene.notified]?.subscribers.first)
        let count = 3000
        let window = StreamTests.Window(size: 1000)
        let receiving = Task {
            var iterator = values.makeAsyncIterator(), received: [[UInt8]] = []
            while received.count < count, let value = try await iterator.next() {
                received.append(value)
                window.take()
            }
            return received
        }
        let flooding = Task { () -> BluetoothError? in
            do throws(BluetoothError) {
                for number in 0..<count { try await subscriber.notify(Self.value(number)) }
                return nil
            } catch {
                return error
            }
        }
        try await radio.passing {
            for number in 0..<count {
                await window.waitForRoom(number)
                try await prompt.notify(Self.value(number))
            }
            #expect(try await receiving.value == (0..<count).map(Self.value))
        }
        #expect(try await radio.passing { await flooding.value } == .disconnected(.byPeer))
        #expect(try await scene.connection.waitForDisconnection() == .consumerTooSlow)
        var iterator = stalled.makeAsyncIterator()
        var kept = 0
        await #expect(throws: BluetoothError.disconnected(.consumerTooSlow)) {
            while let value = try await iterator.next() {
                #expect(value == Self.value(kept))
                kept += 1
            }
        }
        #expect(kept == ReceiveWindow.limit / 512 + 1)
        await other.close()
    }

    @Test("A sequence throws dataLost where values were lost, and then continues")
    func loss() async throws {
        let scene = try await Scene()
        let (values, subscriber) = try await scene.subscribe(to: Scene.notified)
        try await subscriber.notify([1])
        await until { values.subscription.queue.count == 1 }
        scene.lose()
        try await subscriber.notify([2])
        var iterator = values.makeAsyncIterator()
        #expect(try await iterator.next() == [1])
        await #expect(throws: BluetoothError.dataLost) { _ = try await iterator.next() }
        #expect(try await iterator.next() == [2])
        // One that waits gets it at once.
        let waiting = Task { try await values.first() }
        await until { values.subscription.queue.waiterCount == 1 }
        scene.lose()
        await #expect(throws: BluetoothError.dataLost) { try await waiting.value }
    }

    @Test("A message with a lost part throws messageIncomplete with the number of bytes received")
    func incompleteMessage() async throws {
        let scene = try await Scene()
        let (remote, local) = (try scene.remote(Scene.notified), try scene.local(Scene.notified))
        let received = Record<Int>(), connection = scene.connection
        let receiving = Task { try await connection.receiveMessage(from: remote) { received.add($0) } }
        guard case .subscribed(let subscriber)? = try await local.events.first() else {
            Issue.record("nobody has subscribed")
            return
        }
        try await subscriber.notify([1, 2, 3])
        await until { received.all == [3] }
        scene.lose()
        await #expect(throws: BluetoothError.messageIncomplete(octetsReceived: 3, interruption: .dataLost)) {
            _ = try await receiving.value
        }
    }

    @Test("A send that waits for a credit can be cancelled, and the others keep their order")
    func cancelledSender() async throws {
        let scene = try await Scene(time: .manual)
        let (values, subscriber) = try await scene.subscribe(to: Scene.notified)
        await scene.radio.advance(by: .seconds(2))
        var sent = 0
        let link = subscriber.connection.link
        while link.credits.take() {
            scene.peripheral.router.post(.notify(link.identifier, subscriber.characteristic, [0]))
            sent += 1
        }
        var tasks: [Task<Void, any Error>] = []
        for number in 1...3 as ClosedRange<UInt8> {
            tasks.append(Task { try await subscriber.notify([number]) })
            await until { await scene.peripheral.pendingCount == Int(number) }
        }
        tasks[1].cancel()
        let all = tasks
        await #expect(throws: BluetoothError.cancelled) { try await all[1].value }
        let expected = [[UInt8]](repeating: [0], count: sent) + [[1], [3]]
        try await scene.radio.passing {
            try await all[0].value
            try await all[2].value
            #expect(try await values.prefix(count: expected.count) == expected)
        }
        #expect(await scene.peripheral.pendingCount == 0)
    }

    @Test("A consumer that starts late, with half a mebibyte waiting, loses no values")
    func late() async throws {
        let scene = try await Scene(time: .manual)
        let (values, subscriber) = try await scene.subscribe(to: Scene.notified)
        let count = ReceiveWindow.limit / 512
        try await scene.radio.passing {
            let sending = Task { for number in 0..<count { try await subscriber.notify(Self.value(number)) } }
            // Where the controller can make the peer wait, it does so from here on.
            await until { values.subscription.queue.count >= count / 2 }
            #expect(try await values.prefix(count: count) == (0..<count).map(Self.value))
            try await sending.value
        }
    }

    @Test("A burst of 20,000 short values waits for a stalled consumer, and arrives complete once it resumes")
    func burst() async throws {
        let scene = try await Scene(time: .manual)
        let (values, subscriber) = try await scene.subscribe(to: Scene.notified)
        let count = 20_000
        @Sendable func short(_ number: Int) -> [UInt8] { Array(Self.value(number).prefix(3)) }
        let sending = Task { for number in 0..<count { try await subscriber.notify(short(number)) } }
        let connection = scene.connection
        try await scene.radio.passing {
            // The peer is made to wait when half of what may wait does.
            await until { values.subscription.queue.count > ReceiveWindow.limit / ReceiveWindow.leastCount / 2 }
        }
        await scene.radio.advance(by: .seconds(60))
        let kept = values.subscription.queue.count
        #expect(kept < ReceiveWindow.limit / ReceiveWindow.leastCount && kept < count)
        try await scene.radio.passing {
            #expect(try await values.prefix(count: count) == (0..<count).map(short))
            try await sending.value
        }
        #expect(scene.central.connections == [connection])
    }

    @Test("An unread sequence of events stays bounded and still ends in the current state")
    func events() async throws {
        let scene = try await Scene()
        let events = scene.central.events()
        let router = scene.central.router
        for _ in 0..<500 {
            router.publish(.connected(scene.connection))
            router.publish(.disconnected(scene.connection, .byPeer))
            router.publish(.removed(.adapterRemoved))
            router.publish(.ready)
        }
        router.publish(.connected(scene.connection))
        #expect(events.subscription.queue.count <= 256)
        var isConnected = false, isReady = false, iterator = events.makeAsyncIterator()
        while events.subscription.queue.count > 0, let event = try await iterator.next() {
            switch event {
            case .connected: isConnected = true
            case .disconnected: isConnected = false
            case .removed: isReady = false
            case .ready: isReady = true
            default: break
            }
        }
        #expect(isConnected && isReady)
    }
}

extension Scene {
    /// Has the central believe that a part of what came over the link was lost.
    func lose() {
        let event = UserEvent.lost(connection.link.identifier, .frameInterrupted)
        central.router.receive(EventBatch(user: UserID(number: 0), events: [event]))
    }
}
