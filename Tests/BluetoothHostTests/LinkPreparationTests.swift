import BluetoothBase
import BluetoothCrypto
import BluetoothGATT
import BluetoothHost
import BluetoothSMP
import BluetoothUsers
import TestSupport
import Testing

@Suite("Requests that a host sends to a peer automatically")
struct LinkPreparationTests {
    private let user = UserID(number: 1)

    @Test(
        "The host subscribes to Service Changed only if it has a descriptor",
        arguments: [
            // The value, at handle 3, is followed by its descriptor, by another characteristic, or by nothing.
            ("09 07 02 00 20 03 00 05 2A", "01 00 04 00", ["64: 04 00 02 00"]),
            ("09 07 02 00 20 03 00 05 2A 04 00 02 05 00 29 2B", "01 00 06 00", []),
            ("09 07 02 00 20 03 00 05 2A", "01 00 03 00", []),
        ])
    func serviceChanged(characteristics: String, handles: String, writes: [String]) throws {
        var scene = SharedScene(users: user)
        scene.responses = [
            bytes("10 01 00 FF FF 00 28"): bytes("11 06 \(handles) 01 18"),
            bytes("08 \(handles) 03 28"): bytes(characteristics),
        ]
        scene.connect(to: PeerTests.first, 1, of: user)
        scene.reportConnection(0x40, peer: PeerTests.first)
        #expect(scene.takeWrites() == writes)
        let link = try #require(scene.links.first)
        scene.subscribe(link, 2, of: user)
        #expect(scene.take(user).last == "2 done", "the link is as good as any")
    }

    @Test("On a peripheral's link, the host does not repeat what a user has discovered")
    func discoveredByAUser() throws {
        var scene = SharedScene(users: user)
        scene.accept(0x41, from: PeerTests.first, for: user)
        #expect(scene.takeRequests() == [], "it is the central that asks")
        let link = try #require(scene.links.first)
        scene.perform(.perform(link, .discoverPrimaryServices()), 1, of: user)
        #expect(
            scene.takeRequests() == [
                "65: 08 01 00 FF FF 2A 2B", "65: 10 01 00 FF FF 00 28", "65: 08 01 00 FF FF 00 2A",
            ])
    }

    @Test("A step that waits for the link to be protected is not started again meanwhile")
    func refused() throws {
        var configuration = HostConfiguration(seed: 7)
        configuration.security = SecurityConfiguration(
            crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 1), resolvingKey: 1)
        var scene = SharedScene(users: user, configuration: configuration)
        scene.responses = [bytes("08 01 00 FF FF 00 2A"): bytes("01 08 01 00 05")]
        scene.perform(.setPairingAgent(PairingAgentDescription(ioCapability: .noInputNoOutput)), 1, of: user)
        scene.connect(to: PeerTests.first, 2, of: user)
        scene.reportConnection(0x40, peer: PeerTests.first)
        #expect(
            scene.takeRequests() == [
                "64: 08 01 00 FF FF 2A 2B", "64: 10 01 00 FF FF 00 28", "64: 08 01 00 FF FF 00 2A",
            ])
        #expect(scene.host.host.isSecurityPending(on: try #require(scene.links.first)))
    }
}
