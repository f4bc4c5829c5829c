import BluetoothBase

/// Just Works and numeric comparison of LE Secure Connections (Core 5.4, Vol 3, Part H, 2.3.5.6.2).
struct NumericAuthentication: Hashable, Sendable {
    private let shared: SharedSecret
    private let nonce: UInt128
    private var step: Step

    private enum Step: Hashable {
        /// The initiator waits for the responder's confirm value.
        case confirm
        /// Waiting for the peer's nonce. The initiator has the peer's confirm value.
        case random(peerConfirm: UInt128?)
        /// The user compares the numbers. The initiator may have finished and sent its check value.
        case comparing(peerNonce: UInt128, peerCheck: UInt128?)
    }

    var asksForComparison: Bool {
        if case .comparing = step { true } else { false }
    }

    static func begin(_ shared: SharedSecret, _ resources: inout SecurityResources) -> PairingReaction {
        let nonce = resources.randomValue()
        switch shared.agreement.role {
        case .central:
            return PairingReaction(.numbers(NumericAuthentication(shared: shared, nonce: nonce, step: .confirm)))
        case .peripheral:
            return PairingReaction(
                .numbers(NumericAuthentication(shared: shared, nonce: nonce, step: .random(peerConfirm: nil))),
                [.send(.pairingConfirm(shared.localConfirm(nonce: nonce, z: 0, resources)))])
        }
    }

    func receive(
        _ pdu: SecurityManagerPDU, _ resources: inout SecurityResources
    ) throws(PairingFailure) -> PairingReaction {
        var phase = self
        switch (step, pdu) {
        case (.confirm, .pairingConfirm(let confirm)):
            phase.step = .random(peerConfirm: confirm)
            return PairingReaction(.numbers(phase), [.send(.pairingRandom(nonce))])
        case (.random(let confirm), .pairingRandom(let peerNonce)):
            if let confirm { try shared.verify(confirm, nonce: peerNonce, z: 0, resources) }
            let next = phase.compare(peerNonce, resources)
            return shared.agreement.role == .central ? next : next.after(.send(.pairingRandom(nonce)))
        case (.comparing(let peerNonce, nil), .pairingDHKeyCheck(let check))
        where shared.agreement.role == .peripheral:
            phase.step = .comparing(peerNonce: peerNonce, peerCheck: check)
            return PairingReaction(.numbers(phase))
        case (.confirm, _), (.random, _), (.comparing, _):
            throw .unspecifiedReason
        }
    }

    /// Continues after the user has confirmed that the numbers are equal. Nil if the user was not asked.
    func accept(_ resources: inout SecurityResources) throws(PairingFailure) -> PairingReaction? {
        guard case .comparing(let peerNonce, let check) = step else { return nil }
        let next = begunCheck(peerNonce, resources)
        guard let check, case .check(let phase) = next.state else { return next }
        return try phase.receive(.pairingDHKeyCheck(check), &resources)
    }

    private mutating func compare(_ peerNonce: UInt128, _ resources: SecurityResources) -> PairingReaction {
        guard shared.agreement.strength.model == .numericComparison else { return begunCheck(peerNonce, resources) }
        step = .comparing(peerNonce: peerNonce, peerCheck: nil)
        let number =
            shared.agreement.role == .central
            ? resources.crypto.g2(shared.localX, shared.peerX, nonce, peerNonce)
            : resources.crypto.g2(shared.peerX, shared.localX, peerNonce, nonce)
        return PairingReaction(.numbers(self), [.ask(.compareNumbers(number % 1_000_000))])
    }

    private func begunCheck(_ peerNonce: UInt128, _ resources: SecurityResources) -> PairingReaction {
        DHKeyCheck.begin(shared, nonces: (nonce, peerNonce), randoms: (0, 0), resources)
    }
}
