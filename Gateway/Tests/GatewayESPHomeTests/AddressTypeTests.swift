import BluetoothLE
import Synchronization
import Testing
@testable import GatewayESPHome

/// Requests that concern a device without a connection. Home Assistant sends them without the type of the address.
@Suite struct AddressTypeTests {
    static let device = SessionTests.device, random = SessionTests.address
    static let `public` = DeviceAddress(random.value, kind: .public)
    /// The members that state the type of the address.
    static let isPublic: [UInt8] = [0x18, 1], isRandom: [UInt8] = [0x18, 1, 0x20, 1]

    static let bonds: [(bonded: DeviceAddress, type: [UInt8], isRemoved: Bool)] = [
        (random, [], true), (`public`, [], true), (random, isRandom, true), (`public`, isPublic, true),
        (random, isPublic, false), (`public`, isRandom, false),
    ]

    @Test("A bond is removed, whether or not the client states the type of the address", arguments: bonds)
    func unpairing(bonded: DeviceAddress, type: [UInt8], isRemoved: Bool) async {
        let client = await FakeClient()
        client.radio.state.withLock { $0.bonded = [bonded] }
        let answer: [UInt8] = isRemoved ? [0x10, 1] : [0x18, 0x85, 1]
        #expect(
            await client.ask(.deviceRequest, Self.device + [0x10, 3] + type)
                == Frame(.unpairing, Self.device + answer))
        #expect(client.radio.state.withLock { $0.unpaired } == (isRemoved ? [bonded] : []))
    }

    @Test("The address of a connected device is that of the connection")
    func connected() async throws {
        let (client, _) = try await SessionTests.connected()
        #expect(
            await client.ask(.deviceRequest, SessionTests.request(6))
                == Frame(.clearCache, Self.device + [0x10, 1]))
        #expect(client.radio.state.withLock { $0.forgotten } == [Self.random])
    }
}
