import BluetoothBase
import BluetoothCrypto
import BluetoothGATT
import BluetoothHCI
import BluetoothSMP
import BluetoothSimulation
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("Pairings whose last keys are still being sent")
struct UnconfirmedPairingTests {
    /// A central that has sent the last keys of a legacy pairing, and whose controller has not said so.
    private func unconfirmed() throws -> (ScriptedController, LinkIdentifier) {
        var controller = SecurityTests.ready()
        let link = try controller.connect()
        var resources = SecurityResources(
            crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 2),
            policy: SecurityPolicy(offersSecureConnections: false),
            identity: DeviceIdentity(address: ScriptedController.peer, resolvingKey: 0))
        var peer = Pairing(
            role: .peripheral, localAddress: ScriptedController.peer,
            remoteAddress: try #require(controller.host.identity?.address))
        func send(_ effects: [PairingEffect]) {
            for case .send(let pdu) in effects {
                var writer = ByteWriter()
                pdu.encode(into: &writer)
                controller.receiveFrame(writer.bytes, on: 0x06)
            }
        }
        try controller.host.pair(link, PairingParameters(isBonding: true), at: controller.now)
        controller.settle()
        for _ in 0..<4 where !controller.commands.contains(where: { $0.opcode == .leEnableEncryption }) {
            for packet in controller.takeData() {
                var effects = peer.receive(Array(packet.dropFirst(8)).span, &resources, at: controller.now)
                if case .ask(.consent)? = effects.first {
                    effects = peer.answer(
                        .accept(PairingParameters(isBonding: true)), &resources, at: controller.now)
                }
                send(effects)
            }
        }
        #expect(controller.takeOpcodes().last == .leEnableEncryption)
        controller.completesPackets = false
        controller.receive(EncryptionChange(status: .success, connectionHandle: 0x40, encryption: .on))
        send(peer.encryptionChanged(status: 0, isEncrypted: true, &resources, at: controller.now))
        #expect(!controller.takeData().isEmpty, "the keys of the central")
        controller.seen.removeAll { if case .security(_, .changed) = $0.event { true } else { false } }
        #expect(controller.takeEvents() == [] && controller.host.isSecurityPending(on: link))
        return (controller, link)
    }

    private static let strength = KeyStrength(model: .justWorks, usesSecureConnections: false, keySize: 16)
    private let paired = [
        "bond with C0:FF:EE:00:00:01/P, justWorks, legacy, 16 octets",
        "security: \(HostEvent.Security.paired(Self.strength, isBonded: true))",
    ]

    @Test("A Security Request that the new keys already satisfy starts no pairing")
    func securityRequest() throws {
        var (controller, link) = try unconfirmed()
        controller.receiveFrame(bytes("0B 01"), on: 0x06)
        #expect(controller.takeEvents().filter { !$0.contains("changed") } == paired)
        #expect(controller.takeData() == [], "there is nothing to pair for")
        #expect(controller.host.bondStrength(of: link) != nil)
    }

    @Test("The bond of a pairing is kept before the next pairing begins, and is not weakened by it")
    func nextPairing() throws {
        var (controller, link) = try unconfirmed()
        try controller.host.pair(link, PairingParameters(isBonding: true), at: controller.now)
        #expect(controller.host.bonds.count == 1)
        for _ in 0..<2 { controller.complete(0x40, 4) }
        #expect(controller.takeEvents().filter { !$0.contains("changed") } == paired)
        // Pairing Request: NoInputNoOutput, no OOB data, bonding and Secure Connections, 16 octets, keys.
        #expect(controller.takeData().last?.prefix(9) == bytes("4000 0B00 0700 0600 01")[...])
    }
}
