import BluetoothBase

/// The public key exchange of LE Secure Connections (Core 5.4, Vol 3, Part H, 2.3.5.6.1).
struct PublicKeyExchange: Hashable, Sendable {
    private let agreement: Agreement
    private let keyPair: P256KeyPair
    /// The out-of-band random value that belongs to the public key; 0 if the peer does not have it.
    private let localRandom: UInt128

    static func begin(
        _ agreement: Agreement, _ resources: inout SecurityResources
    ) throws(PairingFailure) -> PairingReaction {
        let handedOut = agreement.peerHasOutOfBandData ? resources.takeLocalOutOfBandData() : nil
        guard let keyPair = handedOut?.keyPair ?? resources.makeKeyPair() else { throw .unspecifiedReason }
        let phase = PublicKeyExchange(agreement: agreement, keyPair: keyPair, localRandom: handedOut?.random ?? 0)
        return PairingReaction(
            .publicKeys(phase), agreement.role == .central ? [.send(.pairingPublicKey(keyPair.publicKey))] : [])
    }

    func receive(
        _ pdu: SecurityManagerPDU, _ resources: inout SecurityResources
    ) throws(PairingFailure) -> PairingReaction {
        guard case .pairingPublicKey(let peer) = pdu else { throw .unspecifiedReason }
        let isDebugging = resources.policy.usesDebugKeys
        guard isDebugging || peer.x != P256KeyPair.debug.publicKey.x else { throw .invalidParameters }
        // With the same x, the secret would be known, or the check values could be reflected. The value of y does not
        // matter: the other possible y is that of the negated point. The reason is the same as for every other invalid
        // key.
        guard isDebugging || peer.x != keyPair.publicKey.x else { throw .dhKeyCheckFailed }
        guard let secret = resources.crypto.sharedSecret(privateKey: keyPair.privateKey, publicKey: peer) else {
            throw .dhKeyCheckFailed
        }
        let shared = SharedSecret(
            agreement: agreement, localX: keyPair.publicKey.x, peerX: peer.x, secret: secret)
        let next: PairingReaction
        switch agreement.strength.model {
        case .justWorks, .numericComparison: next = NumericAuthentication.begin(shared, &resources)
        case .passkeyEntry: next = PasskeyAuthentication.begin(shared, &resources)
        case .outOfBand: next = try OutOfBandAuthentication.begin(shared, localRandom: localRandom, &resources)
        }
        return agreement.role == .central ? next : next.after(.send(.pairingPublicKey(keyPair.publicKey)))
    }
}

/// The values that both devices know after the public key exchange.
struct SharedSecret: Hashable, Sendable {
    var agreement: Agreement
    var localX: FieldElement
    var peerX: FieldElement
    var secret: FieldElement

    /// The confirm value by which this device commits to a nonce.
    func localConfirm(nonce: UInt128, z: UInt8, _ resources: SecurityResources) -> UInt128 {
        resources.crypto.f4(localX, peerX, nonce, z)
    }

    func peerConfirm(nonce: UInt128, z: UInt8, _ resources: SecurityResources) -> UInt128 {
        resources.crypto.f4(peerX, localX, nonce, z)
    }

    func verify(_ confirm: UInt128, nonce: UInt128, z: UInt8, _ resources: SecurityResources) throws(PairingFailure) {
        guard isEqualInConstantTime(peerConfirm(nonce: nonce, z: z, resources), confirm) else {
            throw .confirmValueFailed
        }
    }
}
