import BluetoothATT
import BluetoothBase
import BluetoothCrypto
import BluetoothGATT
import BluetoothHCI
import BluetoothSMP
import TestSupport
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

@Suite("Links of several users to bonded peers")
struct SharedProtectionTests {
    private let user = UserID(number: 1)

    @Test("A link that ends before encryption with the key of the bond is never handed to a user")
    func endsUnderAPairing() throws {
        var configuration = HostConfiguration(seed: 7)
        configuration.security = SecurityConfiguration(
            crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 1), resolvingKey: 1)
        var scene = SharedScene(users: user, configuration: configuration)
        scene.restore(SecurityTests.bond())
        scene.perform(.setPairingAgent(PairingAgentDescription(ioCapability: .keyboardOnly)), 1, of: user)
        scene.connect(to: ScriptedController.peer, 2, of: user)
        _ = (scene.take(user), scene.takeCommands())
        scene.reportConnection(0x40, peer: ScriptedController.peer)
        let link = try #require(scene.links.first)
        #expect(scene.takeCommands().contains(.leEnableEncryption))
        #expect(scene.take(user) == ["\(link) began with \(PeerID(ScriptedController.peer))"], "it is not encrypted")

        // A Security Request for more than the bond gives: bonding, MITM and Secure Connections.
        scene.receive(bytes("0B 0D"), on: 0x40, channel: 0x06)
        scene.receive(HardwareError(hardwareCode: 5))
        #expect(
            scene.take(user) == ["2 failed: \(HostError.disconnected(.adapterReset))", "\(link) ended"],
            "it never was encrypted")
    }

    @Test(
        "A link that ends under a pairing begun before the exchange of the ATT_MTU is never handed to a user",
        arguments: [false, true])
    func endsUnderAnEarlyPairing(_ isBonded: Bool) throws {
        var configuration = HostConfiguration(seed: 7)
        configuration.security = SecurityConfiguration(
            crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 1), resolvingKey: 1)
        var scene = SharedScene(users: user, configuration: configuration)
        if isBonded { scene.restore(SecurityTests.bond()) }
        scene.perform(.setPairingAgent(PairingAgentDescription(ioCapability: .keyboardOnly)), 1, of: user)
        // The peer takes its time to exchange the ATT_MTU, and asks for more security than a bond gives meanwhile.
        scene.silences = [bytes("02 05 02")]
        scene.connect(to: ScriptedController.peer, 2, of: user)
        scene.reportConnection(0x40, peer: ScriptedController.peer)
        let link = try #require(scene.links.first)
        if isBonded { scene.reportEncryption() }
        scene.receive(bytes("0B 0D"), on: 0x40, channel: 0x06)
        #expect(scene.takePairingPDUs().map(\.first) == [0x01])
        scene.receive(bytes("03 17 00"), on: 0x40)
        #expect(scene.take(user) == ["1 done", "\(link) began with \(PeerID(ScriptedController.peer))"])

        // The host reports the end of the pairing before the end of the link, when the link is gone already.
        scene.reportDisconnection(0x40)
        #expect(scene.take(user) == ["2 failed: \(HostError.disconnected(.supervisionTimeout))", "\(link) ended"])
    }

    @Test("A link left with the key of a cancelled pairing is encrypted again before the next user gets it")
    func renewalCalledOff() throws {
        let other = UserID(number: 2)
        var configuration = HostConfiguration(seed: 7)
        configuration.security = SecurityConfiguration(
            crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 1), resolvingKey: 1)
        var scene = SharedScene(users: user, other, configuration: configuration)
        scene.restore(SecurityTests.bond(SecurityTests.legacyStrength))
        scene.connect(to: ScriptedController.peer, 1, of: user)
        scene.reportConnection(0x40, peer: ScriptedController.peer)
        let link = try #require(scene.links.first)
        scene.receive(EncryptionChange(status: .success, connectionHandle: 0x40, encryption: .on))
        _ = (scene.take(user), scene.take(other), scene.takeCommands())

        // New keys are wanted, and the controller gets the short-term one.
        scene.perform(.setPairingAgent(PairingAgentDescription(ioCapability: .noInputNoOutput)), 2, of: user)
        scene.perform(.pair(link, PairRequest(renewsKeys: true)), 3, of: user)
        var peer = PairingPeer(role: .peripheral, of: try #require(scene.host.currentIdentity()?.address))
        for _ in 0..<3 {
            for pdu in peer.answers(to: scene.takePairingPDUs(), at: .zero) {
                scene.receive(pdu, on: 0x40, channel: 0x06)
            }
        }
        #expect(scene.takeCommands() == [.leEnableEncryption])
        scene.perform(.cancelPairing(link), 4, of: user)
        _ = scene.take(user)
        scene.receive(EncryptionKeyRefreshComplete(connectionHandle: 0x40))
        #expect(scene.takeCommands() == [.leEnableEncryption], "with the key of the bond")
        scene.connect(to: ScriptedController.peer, 5, of: other)
        #expect(scene.take(other) == [])
        scene.receive(EncryptionKeyRefreshComplete(connectionHandle: 0x40))
        #expect(scene.take(other) == ["5 has \(link)"])
        #expect(scene.host.host.information(of: link)?.security.isEncrypted == true)
    }

    @Test("If the bond is removed during a pairing, another user still gets the link at once")
    func removedDuringAPairing() throws {
        let other = UserID(number: 2)
        var configuration = HostConfiguration(seed: 7)
        configuration.security = SecurityConfiguration(
            crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 1), resolvingKey: 1)
        var scene = SharedScene(users: user, other, configuration: configuration)
        // This host has no key with which it could encrypt a link as the central, so the users get it unencrypted.
        var bond = SecurityTests.bond()
        bond.centralKey = nil
        scene.restore(bond)
        scene.connect(to: ScriptedController.peer, 1, of: user)
        scene.reportConnection(0x40, peer: ScriptedController.peer)
        let link = try #require(scene.links.first)
        #expect(scene.take(user).last == "1 has \(link)")
        scene.perform(.pair(link, PairRequest()), 2, of: user)
        #expect(scene.takePairingPDUs().count == 1)
        scene.perform(.removeBond(bond.peer), 3, of: user)
        #expect(scene.take(user) == ["3 done"])
        _ = scene.take(other)

        // The pairing goes on, but the link is not about to be encrypted with the key of a bond.
        scene.connect(to: ScriptedController.peer, 4, of: other)
        #expect(scene.take(other) == ["4 has \(link)"])
    }

    private func watched() throws -> (SharedScene, LinkIdentifier) {
        var configuration = HostConfiguration(seed: 7)
        configuration.security = SecurityConfiguration(
            crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 1), resolvingKey: 1)
        var scene = SharedScene(users: user, configuration: configuration)
        scene.perform(.setPairingAgent(PairingAgentDescription(ioCapability: .noInputNoOutput)), 1, of: user)
        scene.connect(to: ScriptedController.peer, 2, of: user)
        scene.reportConnection(0x40, peer: ScriptedController.peer)
        _ = (scene.take(user), scene.takeRequests(), scene.takePairingPDUs())
        return (scene, try #require(scene.links.first))
    }

    @Test("Operations that wait for a pairing end with the link, and with its reason")
    func linkEndsUnderAPairing() throws {
        var (scene, link) = try watched()
        scene.responses[bytes("0A 03 00")] = bytes("01 0A 03 00 05")
        scene.perform(.perform(link, .read(0x0003)), 3, of: user)
        #expect(scene.takePairingPDUs().count == 1)
        scene.reportDisconnection(0x40)
        #expect(scene.take(user) == ["3 failed: \(HostError.disconnected(.supervisionTimeout))", "\(link) ended"])
    }

    @Test("A protected Database Hash does not start a pairing, and discovery continues without the hash")
    func protectedHash() throws {
        var (scene, link) = try watched()
        scene.responses[bytes("08 01 00 FF FF 2A 2B")] = bytes("01 08 0D 00 05")
        scene.responses[bytes("10 01 00 FF FF 00 28")] = bytes("11 06 01 00 04 00 01 18")
        scene.perform(.perform(link, .discoverPrimaryServices()), 3, of: user)
        #expect(scene.takePairingPDUs() == [])
        #expect(scene.take(user) == ["3 found [\"0x0001...0x0004\"]"])
    }
}
