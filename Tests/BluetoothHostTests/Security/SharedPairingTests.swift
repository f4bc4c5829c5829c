import BluetoothBase
import BluetoothCrypto
import BluetoothGATT
import BluetoothHCI
import BluetoothSMP
import TestSupport
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

@Suite("Pairing calls of several users")
struct SharedPairingTests {
    private let user = UserID(number: 1)
    private static let bond = SecurityTests.bond(SecurityTests.legacyStrength)

    /// A link to a peer, with the bond of an earlier run or without.
    private func connected(
        to bond: Bond? = nil, _ requirement: SecurityRequirement = SecurityRequirement()
    ) throws -> (SharedScene, LinkIdentifier) {
        var configuration = HostConfiguration(seed: 7)
        configuration.security = SecurityConfiguration(
            crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 1), resolvingKey: 1)
        configuration.security?.policy.requirement = requirement
        var scene = SharedScene(users: user, configuration: configuration)
        if let bond { scene.restore(bond) }
        scene.connect(to: ScriptedController.peer, 1, of: user)
        scene.reportConnection(0x40, peer: ScriptedController.peer)
        if bond != nil { scene.reportEncryption() }
        _ = (scene.take(user), scene.takeCommands(), scene.takePairingPDUs())
        return (scene, try #require(scene.links.first))
    }

    @Test("A call to pair ends at once if the link is already secure enough, unless it asks for new keys")
    func protected() throws {
        var (scene, link) = try connected(to: Self.bond)
        scene.perform(.pair(link, PairRequest()), 2, of: user)
        #expect(scene.take(user) == ["2 done"])
        #expect(scene.takePairingPDUs() == [] && scene.takeCommands() == [])
        scene.perform(.pair(link, PairRequest(renewsKeys: true)), 3, of: user)
        #expect(scene.take(user) == [])
        #expect(scene.takePairingPDUs().count == 1)
    }

    @Test(
        "A bond weaker than the adapter requires still encrypts the link, and a call to pair renews its keys",
        arguments: [
            SecurityRequirement(requiresAuthentication: true), SecurityRequirement(requiresSecureConnections: true),
        ])
    func bondBelowRequirement(_ requirement: SecurityRequirement) throws {
        var (scene, link) = try connected(to: Self.bond, requirement)
        #expect(scene.host.host.keyStrength(of: link) == Self.bond.strength)
        scene.perform(.pair(link, PairRequest()), 2, of: user)
        #expect(scene.take(user) == [])
        #expect(scene.takePairingPDUs().map(\.first) == [0x01])
    }

    @Test("A call to pair uses the keys of a bond restored during the link, and makes no new ones")
    func bondThatComes() throws {
        var (scene, link) = try connected()
        scene.restore(Self.bond)
        _ = scene.takeCommands()
        scene.perform(.pair(link, PairRequest()), 2, of: user)
        #expect(scene.takePairingPDUs() == [])
        #expect(scene.takeCommands() == [.leEnableEncryption])
        scene.reportEncryption()
        #expect(scene.take(user) == ["2 done"])
    }

    @Test("A user that is not the pairing agent cannot remove it")
    func agentOfAnother() {
        let other = UserID(number: 2)
        var configuration = HostConfiguration(seed: 7)
        configuration.security = SecurityConfiguration(
            crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 1), resolvingKey: 1)
        var scene = SharedScene(users: user, other, configuration: configuration)
        scene.perform(.setPairingAgent(PairingAgentDescription(ioCapability: .noInputNoOutput)), 1, of: user)
        scene.connect(to: ScriptedController.peer, 2, of: user)
        scene.reportConnection(0x40, peer: ScriptedController.peer)
        _ = (scene.take(other), scene.takePairingPDUs())
        scene.perform(.setPairingAgent(nil), 3, of: other)
        #expect(scene.take(other) == ["3 done"])
        // With an agent, a Security Request leads to a Pairing Request; without one, it is refused.
        scene.receive(bytes("0B 01"), on: 0x40, channel: 0x06)
        #expect(scene.takePairingPDUs().map(\.first) == [0x01])
    }

    @Test("A bond with a peer without Service Changed stores no handle for it")
    func noServiceChanged() throws {
        var (scene, link) = try connected()
        scene.perform(.setPairingAgent(PairingAgentDescription(ioCapability: .noInputNoOutput)), 2, of: user)
        scene.perform(.pair(link, PairRequest()), 3, of: user)
        var peer = PairingPeer(role: .peripheral, of: try #require(scene.host.currentIdentity()?.address))
        for _ in 0..<3 {
            for pdu in peer.answers(to: scene.takePairingPDUs(), at: .zero) {
                scene.receive(pdu, on: 0x40, channel: 0x06)
            }
        }
        #expect(scene.takeCommands() == [.leEnableEncryption])
        scene.reportEncryption()
        for pdu in peer.encrypted(at: .zero) { scene.receive(pdu, on: 0x40, channel: 0x06) }
        #expect(scene.take(user) == ["2 done", "3 done"])
        #expect(scene.host.host.bonds.map(\.serviceChangedHandle) == [nil])
    }

    @Test("A pairing that waits for the answer of a pairing agent is refused when another user becomes the agent")
    func agentReplaced() {
        let other = UserID(number: 2)
        var configuration = HostConfiguration(seed: 7)
        configuration.security = SecurityConfiguration(
            crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 1), resolvingKey: 1)
        var scene = SharedScene(users: user, other, configuration: configuration)
        let agent = PairingAgentDescription(ioCapability: .noInputNoOutput)
        scene.perform(.setPairingAgent(agent), 1, of: user)
        scene.accept(0x41, from: ScriptedController.peer, for: user)
        // A Pairing Request, about which the agent is asked.
        scene.receive(bytes("01 03 00 01 10 00 00"), on: 0x41, channel: 0x06)
        scene.perform(.setPairingAgent(agent), 2, of: user)
        #expect(scene.takePairingPDUs() == [], "it is the same agent")
        scene.perform(.setPairingAgent(agent), 3, of: other)
        #expect(scene.takePairingPDUs() == [bytes("05 05")], "Pairing Not Supported")
    }
}
