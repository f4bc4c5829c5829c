import BluetoothLE
import Synchronization
import Testing
@testable import GatewayESPHome

/// Clients that know a device's services from an earlier connection, and do not discover them.
@Suite struct CachedServicesTests {
    static let device = SessionTests.device
    static let subscribe = device + [0x10, 3, 0x18, 1], unsubscribe = device + [0x10, 3]

    @Test("Notifications that such a client has turned on are turned off when it unsubscribes")
    func unsubscribing() async throws {
        let (client, link) = try await SessionTests.connected()
        _ = await client.ask(.notifyRequest, Self.subscribe)
        _ = await client.ask(.writeDescriptorRequest, Self.device + [0x10, 4, 0x1A, 2, 1, 0])
        #expect(await client.ask(.notifyRequest, Self.unsubscribe) == Frame(.notifyResponse, Self.device + [0x10, 3]))
        #expect(
            link.written.withLock { $0 } == [
                AttributeValue(handle: 4, value: [1, 0]), AttributeValue(handle: 4, value: [0, 0]),
            ])
        // A second time nothing is left to turn off.
        _ = await client.ask(.notifyRequest, Self.unsubscribe)
        #expect(link.written.withLock { $0.count } == 2)
        #expect(link.discoveries.withLock { $0 } == 1)
    }

    @Test("A client that has turned on nothing causes no discovery")
    func nothingToTurnOff() async throws {
        let (client, link) = try await SessionTests.connected()
        _ = await client.ask(.notifyRequest, Self.subscribe)
        _ = await client.ask(.writeRequest, Self.device + [0x10, 3, 0x18, 1, 0x22, 1, 7])
        _ = await client.ask(.notifyRequest, Self.unsubscribe)
        #expect(link.written.withLock { $0 } == [AttributeValue(handle: 3, value: [7])])
        #expect(link.discoveries.withLock { $0 } == 0)
    }

    @Test("A value that looks like a configuration is not taken for one")
    func otherAttributes() async throws {
        let (client, link) = try await SessionTests.connected()
        _ = await client.ask(.notifyRequest, Self.subscribe)
        _ = await client.ask(.writeRequest, Self.device + [0x10, 3, 0x18, 1, 0x22, 2, 1, 0])
        _ = await client.ask(.notifyRequest, Self.unsubscribe)
        #expect(link.written.withLock { $0 } == [AttributeValue(handle: 3, value: [1, 0])])
    }
}
