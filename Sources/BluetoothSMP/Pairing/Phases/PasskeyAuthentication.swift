import BluetoothBase

/// Passkey entry of LE Secure Connections: twenty rounds, each of which reveals one bit (Core 5.4, Vol 3, Part H,
/// 2.3.5.6.3).
struct PasskeyAuthentication: Hashable, Sendable {
    private let shared: SharedSecret
    private var step: Step
    /// The number of keypress notifications that are still accepted, because each of them extends the timeout.
    private var keypresses = 100

    private enum Step: Hashable {
        /// The passkey is being entered here. The initiator may have finished and sent its first confirm value.
        case entering(peerConfirm: UInt128?)
        /// Waiting for the peer's confirm value. The initiator has sent its own.
        case confirm(passkey: UInt32, round: UInt32, nonce: UInt128)
        /// Waiting for the peer's nonce.
        case random(passkey: UInt32, round: UInt32, nonce: UInt128, peerConfirm: UInt128)
    }

    static let roundCount: UInt32 = 20

    private init(shared: SharedSecret, step: Step) {
        self.shared = shared
        self.step = step
    }

    var asksForPasskey: Bool {
        if case .entering = step { true } else { false }
    }

    /// Whether keypress notifications are sent to the peer now.
    var tellsKeypresses: Bool { asksForPasskey && shared.agreement.sendsKeypresses }

    static func begin(_ shared: SharedSecret, _ resources: inout SecurityResources) -> PairingReaction {
        var phase = PasskeyAuthentication(shared: shared, step: .entering(peerConfirm: nil))
        guard shared.agreement.showsPasskey else { return PairingReaction(.passkey(phase), [.ask(.enterPasskey)]) }
        let passkey = resources.makePasskey()
        return phase.beginRound(0, passkey, &resources).after(.show(.passkey(passkey)))
    }

    func receive(
        _ pdu: SecurityManagerPDU, _ resources: inout SecurityResources
    ) throws(PairingFailure) -> PairingReaction {
        var phase = self
        switch (step, pdu) {
        case (.entering(nil), .pairingKeypressNotification(let key)),
            (.confirm(_, round: 0, _), .pairingKeypressNotification(let key)):
            guard keypresses > 0 else { throw .unspecifiedReason }
            phase.keypresses -= 1
            return PairingReaction(.passkey(phase), [.show(.keypress(key))])
        case (.entering(nil), .pairingConfirm(let confirm)) where shared.agreement.role == .peripheral:
            phase.step = .entering(peerConfirm: confirm)
            return PairingReaction(.passkey(phase))
        case (.confirm(let passkey, let round, let nonce), .pairingConfirm(let confirm)):
            return try phase.exchange(passkey, round, nonce, confirm, resources)
        case (.random(let passkey, let round, let nonce, let confirm), .pairingRandom(let peerNonce)):
            try shared.verify(confirm, nonce: peerNonce, z: Self.bit(round, of: passkey), resources)
            let next =
                round + 1 < Self.roundCount
                ? phase.beginRound(round + 1, passkey, &resources)
                : DHKeyCheck.begin(
                    shared, nonces: (nonce, peerNonce), randoms: (UInt128(passkey), UInt128(passkey)), resources)
            return shared.agreement.role == .central ? next : next.after(.send(.pairingRandom(nonce)))
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
        guard let confirm else { return phase.beginRound(0, passkey, &resources) }
        return try phase.exchange(passkey, 0, resources.randomValue(), confirm, resources)
    }

    /// Starts a round: the initiator sends its confirm value, and the responder waits for it.
    private mutating func beginRound(
        _ round: UInt32, _ passkey: UInt32, _ resources: inout SecurityResources
    ) -> PairingReaction {
        let nonce = resources.randomValue()
        step = .confirm(passkey: passkey, round: round, nonce: nonce)
        guard shared.agreement.role == .central else { return PairingReaction(.passkey(self)) }
        return PairingReaction(.passkey(self), [.send(.pairingConfirm(confirmValue(passkey, round, nonce, resources)))])
    }

    /// Continues after the peer's confirm value: the responder sends its own, and the initiator reveals its nonce.
    private mutating func exchange(
        _ passkey: UInt32, _ round: UInt32, _ nonce: UInt128, _ peerConfirm: UInt128, _ resources: SecurityResources
    ) throws(PairingFailure) -> PairingReaction {
        let confirm = confirmValue(passkey, round, nonce, resources)
        step = .random(passkey: passkey, round: round, nonce: nonce, peerConfirm: peerConfirm)
        guard shared.agreement.role == .central else {
            return PairingReaction(.passkey(self), [.send(.pairingConfirm(confirm))])
        }
        guard !isEqualInConstantTime(confirm, peerConfirm) else { throw .confirmValueFailed }
        return PairingReaction(.passkey(self), [.send(.pairingRandom(nonce))])
    }

    private func confirmValue(
        _ passkey: UInt32, _ round: UInt32, _ nonce: UInt128, _ resources: SecurityResources
    ) -> UInt128 {
        shared.localConfirm(nonce: nonce, z: Self.bit(round, of: passkey), resources)
    }

    /// The octet that stands for one bit of the passkey, starting with the least significant bit.
    private static func bit(_ round: UInt32, of passkey: UInt32) -> UInt8 {
        0x80 | UInt8(truncatingIfNeeded: passkey >> round & 1)
    }
}
