import BluetoothBase

/// The devices have authenticated each other, and the central encrypts the link (Core 5.4, Vol 3, Part H, 2.4.4).
struct EncryptionStart: Hashable, Sendable {
    private let agreement: Agreement
    /// The short-term key or, with LE Secure Connections, the long-term key.
    let key: UInt128
    /// Keys of the peer that arrived before the controller's report that the link is encrypted, which takes another
    /// path.
    private var early: [SecurityManagerPDU] = []

    var strength: KeyStrength { agreement.strength }

    static func begin(_ agreement: Agreement, key: UInt128) -> PairingReaction {
        PairingReaction(
            .encryption(EncryptionStart(agreement: agreement, key: key)),
            agreement.role == .central ? [.encrypt(key: key)] : [])
    }

    private init(agreement: Agreement, key: UInt128) {
        self.agreement = agreement
        self.key = key
    }

    func receive(_ pdu: SecurityManagerPDU) throws(PairingFailure) -> PairingReaction {
        var phase = self
        switch pdu {
        case .encryptionInformation, .centralIdentification, .identityInformation, .identityAddressInformation,
            .signingInformation:
            guard early.count < agreement.expectedKeys.count else { throw .unspecifiedReason }
            phase.early.append(pdu)
            return PairingReaction(.encryption(phase))
        case .pairingRequest, .pairingResponse, .pairingConfirm, .pairingRandom, .pairingFailed, .securityRequest,
            .pairingPublicKey, .pairingDHKeyCheck, .pairingKeypressNotification:
            throw .unspecifiedReason
        }
    }

    func encrypted(_ resources: inout SecurityResources) throws(PairingFailure) -> PairingReaction {
        var reaction = KeyDistributionPhase.begin(agreement, key: key, &resources)
        for pdu in early {
            guard case .distribution(let phase) = reaction.state else { throw .unspecifiedReason }
            let next = try phase.receive(pdu, &resources)
            reaction = PairingReaction(next.state, reaction.effects + next.effects)
        }
        return reaction
    }
}
