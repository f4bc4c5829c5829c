import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothUsers
import TestSupport
import Testing

@Suite("Services that change while they are used")
struct SharedDiscoveryTests {
    private let user = UserID(number: 1)
    /// The requests of which discovering all services consists here.
    private let discovery = ["64: 10 01 00 FF FF 00 28", "64: 10 05 00 FF FF 00 28"]
    /// The peer has no Database Hash, which is asked for before each discovery that follows a change.
    private let hash = ["64: 08 01 00 FF FF 2A 2B"]
    /// Service Changed, for all that follows the Generic Attribute service.
    private let change = bytes("1D 03 00 05 00 FF FF")

    /// A link to a peer of which the host watches Service Changed.
    private func watched() throws -> (SharedScene, LinkIdentifier) {
        var scene = SharedScene(users: user)
        scene.responses = [
            bytes("10 01 00 FF FF 00 28"): bytes("11 06 01 00 04 00 01 18"),
            bytes("08 01 00 04 00 03 28"): bytes("09 07 02 00 20 03 00 05 2A"),
        ]
        scene.connect(to: PeerTests.first, 1, of: user)
        scene.reportConnection(0x40, peer: PeerTests.first)
        #expect(scene.takeWrites() == ["64: 04 00 02 00"])
        _ = (scene.take(user), scene.takeRequests())
        return (scene, try #require(scene.links.first))
    }

    @Test("Services that change during a discovery are discovered again, so that removed ones are not reported")
    func discoveredFromScratch() throws {
        var (scene, link) = try watched()
        scene.interruptions = [bytes("10 05 00 FF FF 00 28"): [change]]
        scene.perform(.perform(link, .discoverPrimaryServices()), 2, of: user)
        #expect(scene.takeRequests() == discovery + hash + discovery)
        #expect(scene.take(user) == ["\(link) changed 5 to 65535", "2 found [\"0x0001...0x0004\"]"])
    }

    @Test("A discovery fails if the services never stop changing")
    func changesOnAndOn() throws {
        var (scene, link) = try watched()
        scene.interruptions = [bytes("10 05 00 FF FF 00 28"): Array(repeating: change, count: 10)]
        scene.perform(.perform(link, .discoverPrimaryServices()), 2, of: user)
        #expect(scene.takeRequests() == discovery + Array(repeating: hash + discovery, count: 3).flatMap(\.self))
        #expect(
            scene.take(user)
                == Array(repeating: "\(link) changed 5 to 65535", count: 4) + ["2 failed: \(HostError.servicesChanged)"]
        )
    }

    @Test(
        "A discovery within a service fails if the service changes meanwhile, and the caller must repeat it",
        arguments: [
            ("1D 03 00 05 00 FF FF", "2 failed: \(HostError.servicesChanged)"),
            ("1D 03 00 09 00 0C 00", "2 failed: \(HostError.servicesChanged)"),
            ("1D 03 00 0A 00 0C 00", "2 done"),
            ("1D 03 00 01 00 04 00", "2 done"),
        ])
    func withinAService(change: String, end: String) throws {
        var (scene, link) = try watched()
        scene.interruptions = [bytes("08 05 00 09 00 03 28"): [bytes(change)]]
        scene.perform(.perform(link, .discoverCharacteristics(in: 0x0005...0x0009)), 2, of: user)
        #expect(scene.takeRequests() == ["64: 08 05 00 09 00 03 28"])
        #expect(scene.take(user).last == end)
    }

    @Test("A descriptor found before the services changed is discovered again")
    func descriptor() throws {
        var (scene, link) = try watched()
        let request = SubscriptionRequest(characteristic: 0x0006, end: 0x0008, configuration: .notifications)
        scene.responses[bytes("04 07 00 08 00")] = bytes("05 01 07 00 02 29 08 00 01 29")
        scene.perform(.subscribe(link, request), 2, of: user)
        #expect(scene.takeRequests() == ["64: 04 07 00 08 00"])
        #expect(scene.takeWrites() == ["64: 07 00 01 00"])

        scene.responses[bytes("04 07 00 08 00")] = bytes("05 01 07 00 01 29 08 00 02 29")
        scene.receive(change, on: 0x40)
        scene.perform(.subscribe(link, request), 3, of: user)
        #expect(scene.takeRequests() == hash + ["64: 04 07 00 08 00"])
        #expect(scene.takeWrites() == ["64: 08 00 01 00"])
        #expect(scene.take(user) == ["2 done", "\(link) changed 5 to 65535", "3 done"])
    }

    @Test("Unsubscribing ends with the peer's answer, even on a link that is about to end")
    func unsubscribed() throws {
        var (scene, link) = try watched()
        let request = SubscriptionRequest(characteristic: 0x0006, end: 0x0007, configuration: .notifications)
        scene.responses[bytes("04 07 00 07 00")] = bytes("05 01 07 00 02 29")
        scene.responses[bytes("12 07 00 00 00")] = []
        scene.perform(.subscribe(link, request), 2, of: user)
        scene.perform(.unsubscribe(link, CallToken(rawValue: 2)), 3, of: user)
        scene.perform(.disconnect(link, reason: nil), 4, of: user)
        #expect(scene.take(user) == ["2 done"])
        scene.receive(bytes("13"), on: 0x40)
        #expect(scene.take(user) == ["3 done"])
        scene.reportDisconnection(0x40)
        #expect(scene.take(user) == ["\(link) ended", "4 done"])
    }
}
