import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothSMP

/// What a writer does at one step. All of the bond follows from the number of the step, so that a mixture of two shows.
struct Change {
    static let identity = DeviceIdentity(address: DeviceAddress(0x001B_DC00_0001, kind: .public), resolvingKey: 1)
    /// Each writer has peers of its own.
    static let peersPerLane: UInt32 = 12

    let peer: UInt32
    let sequence: UInt32

    init(lane: Int, sequence: UInt32) {
        self.init(peer: UInt32(lane) * Self.peersPerLane + sequence % Self.peersPerLane, sequence: sequence)
    }

    init(peer: UInt32, sequence: UInt32) {
        self.peer = peer
        self.sequence = sequence
    }

    var peerID: PeerID { PeerID(address) }
    private var address: DeviceAddress { DeviceAddress(0xC000_0000_0000 | UInt64(peer), kind: .random) }

    /// What is kept after it; nil if it removes the bond.
    var bond: Bond? {
        if sequence % 5 == 0 { return nil }
        let key = UInt128(sequence) << 96 | UInt128(sequence)
        return Bond(
            peer: peerID, address: address, identity: DeviceIdentity(address: address, resolvingKey: key),
            centralKey: LongTermKey(key: key, encryptedDiversifier: UInt16(truncatingIfNeeded: sequence), random: 7),
            peripheralKey: LongTermKey(key: ~key),
            strength: KeyStrength(model: .passkeyEntry, usesSecureConnections: false, keySize: 16),
            peerSignature: SignatureKey(key: key, counter: sequence),
            localSignature: SignatureKey(key: 5, counter: sequence),
            subscriptions: (0..<UInt16(sequence % 40)).map {
                GATTSubscription(
                    characteristic: AttributeHandle($0 * 3 + 2), descriptor: AttributeHandle($0 * 3 + 3),
                    configuration: .notifications)
            },
            databaseHash: key &+ 1)
    }
}
