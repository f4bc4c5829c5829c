import BluetoothLE
import Synchronization
import Testing
import VirtualRadio
@testable import GatewayService

/// Subscriptions that are requested over MQTT, of a device on a virtual radio.
@Suite(.timeLimit(.minutes(10))) struct RemoteLinkTests {
    static let service: BluetoothUUID = "E07F0AE8-00BB-47F5-94F4-4A7174EA3032"
    static func characteristic(_ number: Int) -> BluetoothUUID { BluetoothUUID(UInt16(0xF000 + number)) }

    /// A device with characteristics, and a link that is connected to it.
    struct Scene {
        let radio = VirtualRadio(time: .manual)
        let peripheral: Adapter
        let address: DeviceAddress
        let definition: GATTServiceDefinition
        let published: PublishedService
        let link: RemoteLink
        /// The values that were published.
        let values: AsyncStream<String>

        init(characteristics: Int) async throws {
            let definition = GATTServiceDefinition(
                uuid: RemoteLinkTests.service,
                characteristics: (0..<characteristics).map {
                    .init(uuid: RemoteLinkTests.characteristic($0), properties: .notify, value: .dynamic)
                })
            let ports = (radio.addController(), radio.addController())
            let (central, peripheral, published) = try await radio.passing {
                let (central, peripheral) = (try await Adapter.open(ports.0), try await Adapter.open(ports.1))
                let published = try await peripheral.publish(definition)
                try await peripheral.advertise(AdvertisementData())
                return (central, peripheral, published)
            }
            (self.definition, self.peripheral, self.published) = (definition, peripheral, published)
            address = try #require(peripheral.information?.address)
            let (values, continuation) = AsyncStream<String>.makeStream()
            self.values = values
            link = RemoteLink(
                address,
                RemoteLink.Surroundings(
                    adapter: { _ in (central, "hci0") }, table: ConnectionTable(limit: 1),
                    unpair: { _ throws(BluetoothError) in }, tell: { _, json in continuation.yield(json) }))
            guard case .connected = try await ask("connect") else { throw BluetoothError.adapterClosed }
        }

        func ask(_ action: String, _ number: Int = 0) async throws -> RemoteAnswer {
            let request = try RemoteRequest(
                Array(
                    #"{"owner":"me","device":"\#(address)","do":"\#(action)","service":"\#(RemoteLinkTests.service)","#
                        .utf8)
                    + Array(#""characteristic":"\#(RemoteLinkTests.characteristic(number))"}"#.utf8))
            return try await radio.passing { [link] in
                await link.perform(request, deadline: .now.advanced(by: .seconds(600)))
            }
        }

        func nextValue() async throws -> String? {
            try await radio.passing { [values] in
                var iterator = values.makeAsyncIterator()
                return await iterator.next()
            }
        }
    }

    @Test("A subscription beyond the limit is refused, and possible once another one has ended")
    func limit() async throws {
        let scene = try await Scene(characteristics: 33)
        for number in 0..<32 { #expect(try await scene.ask("subscribe", number) == .done) }
        guard case .refused(let refusal) = try await scene.ask("subscribe", 32) else {
            Issue.record("the subscription was not refused")
            return
        }
        #expect(refusal.code == .busy)
        // One that there already is needs no room.
        #expect(try await scene.ask("subscribe", 31) == .done)
        #expect(try await scene.ask("unsubscribe", 0) == .done)
        #expect(try await scene.ask("subscribe", 32) == .done)
        #expect(scene.published[Self.characteristic(32)]?.subscribers.count == 1)
    }

    @Test("After the device's services have changed, a request subscribes again")
    func servicesChanged() async throws {
        let scene = try await Scene(characteristics: 1)
        #expect(try await scene.ask("subscribe") == .done)
        // The library asks the device to report changes when it has nothing else to do.
        await scene.radio.advance(by: .seconds(3))
        let published = try await scene.radio.passing { [scene] in
            try await scene.published.withdraw()
            return try await scene.peripheral.publish(scene.definition)
        }
        let characteristic = try #require(published[Self.characteristic(0)])
        // Until the change has been reported, the old subscription counts.
        while characteristic.subscribers.isEmpty { _ = try await scene.ask("subscribe") }
        try await characteristic.subscribers.first?.notify([7])
        #expect(try await scene.nextValue() == #"{"value":"07"}"#)
    }

    @Test("A subscription ends with its connection, and the next connection has none")
    func connectionEnds() async throws {
        let scene = try await Scene(characteristics: 1)
        let characteristic = try #require(scene.published[Self.characteristic(0)])
        #expect(try await scene.ask("subscribe") == .done)
        #expect(try await scene.ask("disconnect") == .done)
        #expect(try await scene.nextValue()?.contains("disconnected") == true)
        guard case .connected = try await scene.ask("connect") else {
            Issue.record("the device cannot be connected to again")
            return
        }
        #expect(characteristic.subscribers.isEmpty)
        #expect(try await scene.ask("subscribe") == .done)
        try await characteristic.subscribers.first?.notify([8])
        #expect(try await scene.nextValue() == #"{"value":"08"}"#)
    }
}

extension VirtualRadio {
    /// Lets time pass until `body` returns.
    fileprivate func passing<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let isDone = Atomic(false)
        async let value = {
            defer { isDone.store(true, ordering: .relaxed) }
            return try await body()
        }()
        while !isDone.load(ordering: .relaxed) {
            try Task.checkCancellation()
            await advance(by: .milliseconds(20))
        }
        return try await value
    }
}
