import BluetoothBase
import BluetoothCrypto
import BluetoothGATT
import BluetoothSMP

@testable import BluetoothHost

/// The Security Manager of a peer that pairs without questions, with legacy pairing.
struct PairingPeer {
    private var pairing: Pairing
    private var resources = SecurityResources(
        crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 2),
        policy: SecurityPolicy(offersSecureConnections: false),
        identity: DeviceIdentity(address: ScriptedController.peer, resolvingKey: 0))

    /// - Parameter address: its address on the air.
    init(role: LinkRole, of host: DeviceAddress, at address: DeviceAddress = ScriptedController.peer) {
        pairing = Pairing(role: role, localAddress: address, remoteAddress: host)
    }

    /// What it answers to PDUs.
    mutating func answers(to pdus: [[UInt8]], at now: Instant) -> [[UInt8]] {
        var answers: [[UInt8]] = []
        for pdu in pdus {
            var effects = pairing.receive(pdu.span, &resources, at: now)
            if effects.contains(where: { if case .ask = $0 { true } else { false } }) {
                effects += pairing.answer(.accept(), &resources, at: now)
            }
            answers += sent(effects)
        }
        return answers
    }

    /// What it sends once the link is encrypted.
    mutating func encrypted(at now: Instant) -> [[UInt8]] {
        sent(pairing.encryptionChanged(status: 0, isEncrypted: true, &resources, at: now))
    }

    private func sent(_ effects: [PairingEffect]) -> [[UInt8]] {
        effects.compactMap { effect in
            guard case .send(let pdu) = effect else { return nil }
            var writer = ByteWriter()
            pdu.encode(into: &writer)
            return writer.bytes
        }
    }
}
