import BluetoothBase

/// The check that both devices have the same secret and saw the same features (Core 5.4, Vol 3, Part H, 2.3.5.6.5).
struct DHKeyCheck: Hashable, Sendable {
    private let agreement: Agreement
    private let longTermKey: UInt128
    private let localCheck: UInt128
    private let peerCheck: UInt128

    /// - Parameters:
    ///   - nonces: The nonces of this device and of the peer.
    ///   - randoms: The values r of this device and of the peer: the passkey, or the out-of-band random values.
    static func begin(
        _ shared: SharedSecret, nonces: (local: UInt128, peer: UInt128), randoms: (local: UInt128, peer: UInt128),
        _ resources: SecurityResources
    ) -> PairingReaction {
        let agreement = shared.agreement
        let ordered = agreement.role == .central ? (nonces.local, nonces.peer) : (nonces.peer, nonces.local)
        let (macKey, longTermKey) = resources.crypto.f5(
            shared.secret, ordered.0, ordered.1, agreement.initiator, agreement.responder)
        let phase = DHKeyCheck(
            agreement: agreement, longTermKey: agreement.masked(longTermKey),
            localCheck: resources.crypto.f6(
                macKey, nonces.local, nonces.peer, randoms.peer, ioCap: agreement.localCapabilities,
                agreement.localAddress,
                agreement.remoteAddress),
            peerCheck: resources.crypto.f6(
                macKey, nonces.peer, nonces.local, randoms.local, ioCap: agreement.peerCapabilities,
                agreement.remoteAddress, agreement.localAddress))
        return PairingReaction(
            .check(phase), agreement.role == .central ? [.send(.pairingDHKeyCheck(phase.localCheck))] : [])
    }

    func receive(
        _ pdu: SecurityManagerPDU, _ resources: inout SecurityResources
    ) throws(PairingFailure) -> PairingReaction {
        guard case .pairingDHKeyCheck(let check) = pdu else { throw .unspecifiedReason }
        guard isEqualInConstantTime(check, peerCheck) else { throw .dhKeyCheckFailed }
        let next = EncryptionStart.begin(agreement, key: longTermKey)
        return agreement.role == .central ? next : next.after(.send(.pairingDHKeyCheck(localCheck)))
    }
}
