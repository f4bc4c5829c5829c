import BluetoothBase

/// Out-of-band authentication of LE Secure Connections (Core 5.4, Vol 3, Part H, 2.3.5.6.4).
struct OutOfBandAuthentication: Hashable, Sendable {
    private let shared: SharedSecret
    private let nonce: UInt128
    /// The out-of-band random values: 0 for a device whose data the other device does not have.
    private let localRandom: UInt128
    private let peerRandom: UInt128

    /// Checks that the public key belongs to the device that the data came from.
    static func begin(
        _ shared: SharedSecret, localRandom: UInt128, _ resources: inout SecurityResources
    ) throws(PairingFailure) -> PairingReaction {
        var peerRandom: UInt128 = 0
        if case .secureConnections(let confirm, let random) = shared.agreement.peerOutOfBandData {
            guard isEqualInConstantTime(resources.crypto.f4(shared.peerX, shared.peerX, random, 0), confirm) else {
                throw .confirmValueFailed
            }
            peerRandom = random
        }
        let phase = OutOfBandAuthentication(
            shared: shared, nonce: resources.randomValue(), localRandom: localRandom, peerRandom: peerRandom)
        return PairingReaction(
            .outOfBand(phase), shared.agreement.role == .central ? [.send(.pairingRandom(phase.nonce))] : [])
    }

    func receive(
        _ pdu: SecurityManagerPDU, _ resources: inout SecurityResources
    ) throws(PairingFailure) -> PairingReaction {
        guard case .pairingRandom(let peerNonce) = pdu else { throw .unspecifiedReason }
        let next = DHKeyCheck.begin(
            shared, nonces: (nonce, peerNonce), randoms: (localRandom, peerRandom), resources)
        return shared.agreement.role == .central ? next : next.after(.send(.pairingRandom(nonce)))
    }
}
