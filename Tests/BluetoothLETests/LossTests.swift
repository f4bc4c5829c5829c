import TestSupport
import Testing
import VirtualRadio

@testable import BluetoothLE

/// Where the host drops a part of what came over a link, nobody takes the rest for the whole.
@Suite("Lost data", .timeLimit(.minutes(30)))
struct LossTests {
    static let message = [UInt8](0..<100)

    /// A central that receives over a port that disturbs it.
    struct Pair {
        let port: DisturbedPort
        let sender, receiver: Adapter
        let service: PublishedService
        let connection: Connection

        init(disturbingReceiver: Bool = true) async throws {
            let radio = VirtualRadio()
            let (near, far) = (DisturbedPort(radio.addController()), DisturbedPort(radio.addController()))
            port = disturbingReceiver ? near : far
            // An ATT_MTU of 100, which PDUs can be longer than.
            var options = AdapterOptions(seed: 1)
            options.host.preferredMTU = 100
            receiver = try await Adapter.open(near, options: options)
            sender = try await Adapter.open(far, options: AdapterOptions(seed: 2))
            service = try await sender.publish(Scene.definition)
            try await sender.advertise(AdvertisementData(name: "Pair"))
            let information = sender.information
            connection = try await receiver.connect(to: try #require(information?.address))
        }

        func subscriber() async throws -> Subscriber {
            let characteristic = try #require(service[Scene.notified])
            for try await case .subscribed(let subscriber) in characteristic.events { return subscriber }
            throw BluetoothError.cancelled
        }
    }

    @Test(
        "A message whose third chunk is lost fails and reports the bytes received", arguments: FrameFault.allCases)
    func message(_ fault: FrameFault) async throws {
        let pair = try await Pair()
        pair.port.disturb(2, of: 0x1B, by: fault)
        let sending = Task { try await pair.subscriber().sendMessage(Self.message) }
        let characteristic = try await pair.connection.characteristic(Scene.notified, in: Scene.service)
        await #expect(throws: BluetoothError.messageIncomplete(octetsReceived: 40, interruption: .dataLost)) {
            try await pair.connection.receiveMessage(from: characteristic)
        }
        try await sending.value
        // Only that message is lost.
        let more = Task { try await pair.subscriber().sendMessage(Self.message) }
        #expect(try await pair.connection.receiveMessage(from: characteristic) == Self.message)
        try await more.value
        await pair.receiver.close()
        await pair.sender.close()
    }

    @Test("Values before and after a loss arrive in order, with dataLost in between", arguments: FrameFault.allCases)
    func values(_ fault: FrameFault) async throws {
        let pair = try await Pair()
        pair.port.disturb(2, of: 0x1B, by: fault)
        let characteristic = try await pair.connection.characteristic(Scene.notified, in: Scene.service)
        let session = try pair.connection.openSession()
        let values = try await pair.connection.notifications(of: characteristic)
        let subscriber = try await pair.subscriber()
        for number in 0..<5 as Range<UInt8> { try await subscriber.notify([number]) }
        var iterator = values.makeAsyncIterator()
        var sessions = session.events.makeAsyncIterator()
        for number in [0, 1, nil, 3, 4] as [UInt8?] {
            guard let number else {
                await #expect(throws: BluetoothError.dataLost) { _ = try await iterator.next() }
                await #expect(throws: BluetoothError.dataLost) { _ = try await sessions.next() }
                continue
            }
            #expect(try await iterator.next() == [number])
            guard case .value([number], of: _) = try await sessions.next() else {
                Issue.record("the session has something else")
                break
            }
        }
        await pair.receiver.close()
        await pair.sender.close()
    }

    @Test(
        "A lost write without response is reported to the publisher as dataLost", arguments: FrameFault.allCases
    )
    func written(_ fault: FrameFault) async throws {
        let pair = try await Pair(disturbingReceiver: false)
        pair.port.disturb(1, of: 0x52, by: fault)
        let characteristic = try await pair.connection.characteristic(Scene.stored, in: Scene.service)
        for number in 0..<4 as Range<UInt8> {
            try await pair.connection.writeWithoutResponse([number], to: characteristic)
        }
        let events = try #require(pair.service[Scene.stored]).events
        let seen = try await events.prefix(count: 4).map { event in
            switch event {
            case .written(let value, _, _): "\(value)"
            case .dataLost(let connection): "lost on the \(connection.role) link"
            default: "\(event)"
            }
        }
        #expect(seen == ["[0]", "lost on the peripheral link", "[2]", "[3]"])
        // Nobody else is concerned.
        #expect(try #require(pair.service[Scene.dynamic]).events.subscription.queue.count == 0)
        await pair.receiver.close()
        await pair.sender.close()
    }

    @Test("A loss after the consumer was cancelled is thrown by the next call")
    func cancelled() async {
        let queue = AsyncQueue<Int>(capacity: 1, overflow: .fail)
        let executor = StepExecutor(), consumer = StepConsumer(executor)
        let task = Task { await consumer.take(from: queue) }
        await executor.step()
        #expect(queue.waiterCount == 1)
        task.cancel()
        queue.noteLoss()
        await executor.step()
        #expect(await task.value == .failure(.cancelled))
        await #expect(throws: BluetoothError.dataLost) { _ = try await queue.next() }
    }

    @Test("A loss that a cancelled consumer was woken for goes to the next one that waits")
    func handedOn() async {
        let queue = AsyncQueue<Int>(capacity: 1, overflow: .fail)
        let executors = [StepExecutor(), StepExecutor()]
        let tasks = executors.map { executor in
            let consumer = StepConsumer(executor)
            return Task { await consumer.take(from: queue) }
        }
        for executor in executors { await executor.step() }
        queue.noteLoss()
        tasks[0].cancel()
        for executor in executors { await executor.step() }
        #expect(await tasks[0].value == .failure(.cancelled))
        #expect(await tasks[1].value == .failure(.dataLost))
    }
}
