import BluetoothBase

/// The authentication of LE legacy pairing (Core 5.4, Vol 3, Part H, 2.3.5.2 to 2.3.5.5).
struct LegacyAuthentication: Hashable, Sendable {
    private let agreement: Agreement
    private var step: Step

    private enum Step: Hashable {
        /// The passkey is being entered here. The initiator may have sent its confirm value.
        case entering(peerConfirm: UInt128?)
        /// Waiting for the peer's confirm value.
        case confirm(temporaryKey: UInt128, random: UInt128)
        /// Waiting for the peer's random value.
        case random(temporaryKey: UInt128, random: UInt128, peerConfirm: UInt128)
    }

    var asksForPasskey: Bool {
        if case .entering = step { true } else { false }
    }

    static func begin(
        _ agreement: Agreement, _ resources: inout SecurityResources
    ) throws(PairingFailure) -> PairingReaction {
        var phase = LegacyAuthentication(agreement: agreement, step: .entering(peerConfirm: nil))
        switch agreement.strength.model {
        case .justWorks:
            return phase.proceed(temporaryKey: 0, peerConfirm: nil, &resources)
        case .outOfBand:
            guard case .temporaryKey(let key) = agreement.peerOutOfBandData else { throw .outOfBandNotAvailable }
            return phase.proceed(temporaryKey: key, peerConfirm: nil, &resources)
        case .passkeyEntry where agreement.showsPasskey:
            let passkey = resources.makePasskey()
            return phase.proceed(temporaryKey: UInt128(passkey), peerConfirm: nil, &resources)
                .after(.show(.passkey(passkey)))
        case .passkeyEntry:
            return PairingReaction(.legacy(phase), [.ask(.enterPasskey)])
        case .numericComparison:
            throw .unspecifiedReason
        }
    }

    func receive(
        _ pdu: SecurityManagerPDU, _ resources: inout SecurityResources
    ) throws(PairingFailure) -> PairingReaction {
        var phase = self
        switch (step, pdu) {
        case (.entering(nil), .pairingConfirm(let confirm)) where agreement.role == .peripheral:
            phase.step = .entering(peerConfirm: confirm)
            return PairingReaction(.legacy(phase))
        case (.confirm(let key, let random), .pairingConfirm(let confirm)):
            return try phase.exchange(temporaryKey: key, random: random, peerConfirm: confirm, resources)
        case (.random(let key, let random, let confirm), .pairingRandom(let peerRandom)):
            guard isEqualInConstantTime(confirmValue(key, peerRandom, resources), confirm) else {
                throw .confirmValueFailed
            }
            let short =
                agreement.role == .central
                ? resources.crypto.s1(key, peerRandom, random) : resources.crypto.s1(key, random, peerRandom)
            let next = EncryptionStart.begin(agreement, key: agreement.masked(short))
            return agreement.role == .central ? next : next.after(.send(.pairingRandom(random)))
        case (.entering, _), (.confirm, _), (.random, _):
            throw .unspecifiedReason
        }
    }

    /// Nil if no passkey was requested.
    func answer(
        passkey: UInt32, _ resources: inout SecurityResources
    ) throws(PairingFailure) -> PairingReaction? {
        guard case .entering(let confirm) = step else { return nil }
        var phase = self
        guard let confirm else { return phase.proceed(temporaryKey: UInt128(passkey), peerConfirm: nil, &resources) }
        return try phase.exchange(
            temporaryKey: UInt128(passkey), random: resources.randomValue(), peerConfirm: confirm, resources)
    }

    /// Continues once the temporary key is known: the initiator sends its confirm value, and the responder waits for
    /// it.
    private mutating func proceed(
        temporaryKey: UInt128, peerConfirm: UInt128?, _ resources: inout SecurityResources
    ) -> PairingReaction {
        let random = resources.randomValue()
        step = .confirm(temporaryKey: temporaryKey, random: random)
        guard agreement.role == .central else { return PairingReaction(.legacy(self)) }
        return PairingReaction(.legacy(self), [.send(.pairingConfirm(confirmValue(temporaryKey, random, resources)))])
    }

    /// Continues after the peer's confirm value: the responder sends its own, and the initiator reveals its random
    /// value.
    private mutating func exchange(
        temporaryKey: UInt128, random: UInt128, peerConfirm: UInt128, _ resources: SecurityResources
    ) throws(PairingFailure) -> PairingReaction {
        let confirm = confirmValue(temporaryKey, random, resources)
        step = .random(temporaryKey: temporaryKey, random: random, peerConfirm: peerConfirm)
        guard agreement.role == .central else {
            return PairingReaction(.legacy(self), [.send(.pairingConfirm(confirm))])
        }
        // A peer that does not know the temporary key could send back the value that it received.
        guard !isEqualInConstantTime(confirm, peerConfirm) else { throw .confirmValueFailed }
        return PairingReaction(.legacy(self), [.send(.pairingRandom(random))])
    }

    private func confirmValue(_ key: UInt128, _ random: UInt128, _ resources: SecurityResources) -> UInt128 {
        resources.crypto.c1(
            key, random, preq: agreement.request, pres: agreement.response, ia: agreement.initiator,
            ra: agreement.responder)
    }
}
