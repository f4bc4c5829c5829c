import BluetoothBase
import BluetoothCrypto
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothSMP
import Testing

@Suite("Cancelled pairings")
struct AbandonedPairingTests {
    @Test("Encryption with the key of a cancelled pairing raises no security level, and nothing waits for it")
    func calledOffBeforeEncryption() throws {
        var controller = SecurityTests.ready()
        let link = try controller.accept()
        var resources = SecurityResources(
            crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 2),
            policy: SecurityPolicy(offersSecureConnections: false),
            identity: DeviceIdentity(address: ScriptedController.peer, resolvingKey: 0))
        var peer = Pairing(
            role: .central, localAddress: ScriptedController.peer,
            remoteAddress: try #require(controller.host.identity?.address))
        var effects = peer.begin(PairingParameters(), &resources, at: controller.now)
        var hasKey = false
        for round in 0..<4 where !hasKey {
            for effect in effects {
                if case .send(let pdu) = effect {
                    var writer = ByteWriter()
                    pdu.encode(into: &writer)
                    controller.receiveFrame(writer.bytes, on: 0x06, 0x41)
                }
                if case .encrypt = effect { hasKey = true }
            }
            if round == 0 {
                try controller.host.answerPairing(link, .accept(), at: controller.now)
                controller.settle()
            }
            effects = controller.takeData().flatMap { packet in
                peer.receive(Array(packet.dropFirst(8)).span, &resources, at: controller.now)
            }
        }
        #expect(hasKey)
        _ = controller.takeOpcodes()
        controller.receive(LELongTermKeyRequest(connectionHandle: 0x41, randomNumber: 0, encryptedDiversifier: 0))
        #expect(controller.takeOpcodes() == [.leLongTermKeyRequestReply])
        controller.host.cancelPairing(link, at: controller.now)
        controller.settle()
        #expect(controller.host.isSecurityPending(on: link))
        controller.receive(EncryptionChange(status: .success, connectionHandle: 0x41, encryption: .on))
        #expect(controller.host.information(of: link)?.security == .unprotected)
        #expect(!controller.host.isSecurityPending(on: link))
        #expect(controller.host.faults[.encryptionUnexpected] == 1)
    }
}
