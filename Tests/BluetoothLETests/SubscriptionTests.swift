import AdapterTestSupport
import BluetoothUsers
import Synchronization
import BluetoothHost
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Subscriptions", .timeLimit(.minutes(30)))
struct SubscriptionTests {
    @Test("A value sent right after the subscription is not lost", arguments: [Scene.notified, Scene.indicated])
    func firstValue(_ uuid: BluetoothUUID) async throws {
        let scene = try await Scene()
        let (remote, local) = (try scene.remote(uuid), try scene.local(uuid))
        let sending = Task {
            for try await case .subscribed(let subscriber) in local.events {
                for number in 0..<5 as Range<UInt8> {
                    if uuid == Scene.notified {
                        try await subscriber.notify([number])
                    } else {
                        try await subscriber.indicate([number])
                    }
                }
                return
            }
        }
        let values = try await scene.connection.notifications(of: remote)
        #expect(try await values.prefix(count: 5) == [[0], [1], [2], [3], [4]])
        try await sending.value
    }

    @Test("Values received before the subscription was requested are not delivered to it")
    func earlierValues() async throws {
        let scene = try await Scene(time: .manual)
        let (remote, local) = (try scene.remote(Scene.notified), try scene.local(Scene.notified))
        let connection = scene.connection
        // The peer still follows what somebody has written before.
        try await scene.radio.passing {
            try await connection.write([1, 0], to: AttributeHandle(remote.valueHandle.rawValue + 1))
        }
        let subscriber = try #require(local.subscribers.first)
        // It reaches this side before the answer to the search for the descriptor.
        try await subscriber.notify([1])
        let subscribing = Task { try await connection.notifications(of: remote) }
        await until { await scene.listeners(of: remote) == 1 }
        let values = try await scene.radio.passing { try await subscribing.value }
        try await subscriber.notify([2])
        #expect(try await scene.radio.passing { try await values.first() } == [2])
    }

    @Test("Two sequences of one characteristic both receive every value, and one can end before the other")
    func twoListeners() async throws {
        let scene = try await Scene()
        let (remote, local) = (try scene.remote(Scene.notified), try scene.local(Scene.notified))
        var first: EventSequence<[UInt8]>? = try await scene.connection.notifications(of: remote)
        let second = try await scene.connection.notifications(of: remote)
        let subscriber = try #require(local.subscribers.first)
        try await subscriber.notify([1])
        #expect(try await first?.first() == [1])
        #expect(try await second.first() == [1])
        first = nil
        await until { await scene.listeners(of: remote) == 1 }
        try await subscriber.notify([2])
        #expect(try await second.first() == [2])
        #expect(local.subscribers.count == 1)
    }

    @Test("Releasing the last sequence unsubscribes from the peer")
    func dropped() async throws {
        let scene = try await Scene()
        let local = try scene.local(Scene.notified)
        var values: EventSequence<[UInt8]>? = try await scene.subscribe(to: Scene.notified).values
        #expect(values != nil)
        values = nil
        await until { local.subscribers.isEmpty }
        let events = try await local.events.prefix(count: 2)
        guard case .subscribed(let subscriber) = events[0], case .unsubscribed(let gone) = events[1] else {
            Issue.record("\(events)")
            return
        }
        #expect(subscriber == gone)
        await #expect(throws: BluetoothError.notSubscribed(local.handle)) {
            try await subscriber.notify([1])
        }
    }

    @Test("A changed configuration is reported as a change, not as an end and a new subscription")
    func changed() async throws {
        let scene = try await Scene()
        let (both, local) = (try scene.remote(Scene.both), try scene.local(Scene.both))
        let descriptor = try #require(
            try await scene.connection.discoverDescriptors(of: both).first {
                $0.uuid == .clientCharacteristicConfiguration
            })
        for value in [2, 1, 3, 3, 1, 2, 0] as [UInt8] {
            try await scene.connection.write([value, 0], to: descriptor.handle)
            let configuration = local.subscribers.first?.configuration
            #expect(configuration == (value == 0 ? nil : GATTClientConfiguration(rawValue: UInt16(value))))
        }
        let events = try await local.events.prefix(count: 6).map { event in
            switch event {
            case .subscribed: "+"
            case .subscriptionChanged(_, let configuration): "\(configuration.rawValue)"
            case .unsubscribed: "-"
            default: "\(event)"
            }
        }
        #expect(events == ["+", "1", "3", "1", "2", "-"])
        #expect(local.events.subscription.queue.count == 0)
    }

    @Test("Unsubscribing waits for the peer, and ends the sequences without error")
    func unsubscribed() async throws {
        let scene = try await Scene()
        let local = try scene.local(Scene.notified)
        let (values, subscriber) = try await scene.subscribe(to: Scene.notified)
        try await subscriber.notify([1])
        try await scene.connection.unsubscribe(from: try scene.remote(Scene.notified))
        #expect(local.subscribers.isEmpty)
        #expect(try await values.first() == [1])
        #expect(await values.end() == nil)
        // Subscribing anew works as it did the first time.
        let again = try await scene.subscribe(to: Scene.notified)
        try await again.subscriber.notify([2])
        #expect(try await again.values.first() == [2])
        try await scene.connection.unsubscribe(from: try scene.remote(Scene.indicated))
    }

    @Test("Unsubscribing in a cancelled task still ends the subscription")
    func unsubscribedByCancelledTask() async throws {
        let scene = try await Scene()
        let (remote, local) = (try scene.remote(Scene.notified), try scene.local(Scene.notified))
        let values = try await scene.subscribe(to: Scene.notified).values
        let connection = scene.connection
        let leaving = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await connection.unsubscribe(from: remote)
        }
        await #expect(throws: BluetoothError.cancelled) { try await leaving.value }
        await until { local.subscribers.isEmpty }
        #expect(await values.end() == nil)
    }

    @Test("Subscribing to a characteristic that neither notifies nor indicates fails")
    func notSupported() async throws {
        let scene = try await Scene()
        let stored = try scene.remote(Scene.stored)
        await #expect(throws: BluetoothError.self) { _ = try await scene.connection.notifications(of: stored) }
    }

    @Test("When the link ends, a sequence throws the reason and the peer's subscription ends")
    func linkLost() async throws {
        let scene = try await Scene()
        let local = try scene.local(Scene.notified)
        let (values, subscriber) = try await scene.subscribe(to: Scene.notified)
        try await subscriber.connection.disconnect()
        #expect(await values.end() == .disconnected(.byPeer))
        #expect(local.subscribers.isEmpty)
        let events = try await local.events.prefix(count: 2)
        guard case .unsubscribed(subscriber) = events[1] else {
            Issue.record("\(events)")
            return
        }
        await #expect(throws: BluetoothError.disconnected(.byThisDevice)) { try await subscriber.notify([1]) }
    }

    @Test("A value goes only to the subscriber it is sent to")
    func onePeerOnly() async throws {
        let scene = try await Scene()
        let other = try await Adapter.open(scene.radio.addController())
        let address = scene.connection.peer
        await until { scene.radio.withAir { air, _ in air[scene.peripheralPort.identifier].isAdvertising } }
        let link = try await other.connect(to: address)
        let (remote, local) = (try scene.remote(Scene.notified), try scene.local(Scene.notified))
        let (mine, first) = try await scene.subscribe(to: Scene.notified)
        let theirs = try await link.notifications(of: remote)
        let subscribers = local.subscribers
        #expect(subscribers.count == 2)
        let second = try #require(subscribers.first { $0 != first })
        try await first.notify([1])
        try await second.notify([2])
        #expect(try await mine.first() == [1])
        #expect(try await theirs.first() == [2])
    }
}

extension Scene {
    /// How many sequences of the central get the values of a characteristic.
    func listeners(of characteristic: DiscoveredCharacteristic) async -> Int {
        let handle = characteristic.valueHandle
        return connection.link.allListeners.count { $0.handle == handle }
    }
}
