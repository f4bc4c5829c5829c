import BluetoothAdapter
import BluetoothATT
import BluetoothBase
import Testing
import VirtualRadio

@testable import BluetoothHost
@testable import BluetoothLE
@testable import BluetoothUsers

/// The values of one turn of the adapter, delivered on the test's own thread.
@Suite("The values of one batch")
struct BatchedValueTests {
    private typealias Values = AsyncQueue<[UInt8]>

    private let runner: AdapterRunner
    private let router: EventRouter
    private let link: LinkState
    private let user = UserID(number: 1)
    private let identifier = LinkIdentifier(slot: 0, generation: 1)

    init() throws {
        let radio = VirtualRadio(time: .manual)
        runner = try AdapterRunner(radio.addController(), options: .init(host: HostConfiguration(seed: 1)))
        router = EventRouter(runner, EventLog(nil))
        let address = DeviceAddress(0xC0_1122_334455, kind: .random)
        let information = LinkInformation(
            role: .central, peer: PeerID(address), address: address, mtu: 247,
            parameters: CurrentConnectionParameters(
                interval: .milliseconds(30), latency: 0, supervisionTimeout: .seconds(5)),
            security: .unprotected)
        router.receive(EventBatch(user: user, events: [.linkBegan(identifier, information)]))
        link = try #require(router.link(identifier))
    }

    private func listen(to handle: AttributeHandle, _ queue: Values) throws {
        let token = CallToken(rawValue: UInt64(handle.rawValue))
        try link.add(LinkState.Listener(handle: handle, token: token, queue: queue))
        router.receive(EventBatch(user: user, events: [.subscriptionBegan(identifier, token)]))
    }

    /// Delivers numbered values of these characteristics in one batch.
    private func deliver(_ handles: [AttributeHandle]) {
        var batch = EventBatch(user: user)
        for (number, handle) in handles.enumerated() {
            batch.octets.append(UInt8(number))
            batch.events.append(.value(identifier, handle, Payload(start: number, count: 1)))
        }
        router.receive(batch)
    }

    private func content(_ queue: Values) async throws -> [UInt8] {
        queue.finish()
        var values: [UInt8] = []
        while let value = try await queue.next() { values += value }
        return values
    }

    @Test("Each value reaches the consumer of its characteristic")
    func interleaved() async throws {
        let queues = [Values(capacity: 100, overflow: .fail), Values(capacity: 100, overflow: .fail)]
        try listen(to: 3, queues[0])
        try listen(to: 5, queues[1])
        deliver([3, 3, 5, 3, 7, 5, 5, 3])
        #expect(try await content(queues[0]) == [0, 1, 3, 7])
        #expect(try await content(queues[1]) == [2, 5, 6])
        runner.close()
    }

    @Test("A session that is opened during a batch receives the values that follow")
    func session() async throws {
        let session = AsyncQueue<ClientEvent>(capacity: 100, overflow: .fail)
        // The last three values remain. The fourth value is the first that does not fit.
        let values = Values(
            capacity: 3, overflow: .dropOldest,
            onDrop: { [link] count in
                if count == 1 { #expect(throws: Never.self) { try link.add(session) } }
            })
        try listen(to: 3, values)
        deliver(Array(repeating: 3, count: 8))
        #expect(try await content(values) == [5, 6, 7])
        session.finish()
        var seen: [UInt8] = []
        while let event = try await session.next() {
            if case .value(let value, of: 3) = event { seen += value }
        }
        #expect(seen == [4, 5, 6, 7])
        #expect(link.hasSessions)
        link.remove(session)
        #expect(!link.hasSessions)
        runner.close()
    }

    @Test("Values whose consumer has left do not wait for it")
    func departure() throws {
        let values = Values(
            capacity: .max, overflow: .grow, onTake: { [router, link] in router.consumed($0, on: link) })
        try listen(to: 3, values)
        deliver([3, 3])
        values.abandon()
        deliver([3, 3, 3])
        // The whole window is free.
        #expect(!link.window.add(ReceiveWindow.limit, on: identifier, post: { _ in }))
        #expect(link.window.add(1, on: identifier, post: { _ in }))
        runner.close()
    }
}
