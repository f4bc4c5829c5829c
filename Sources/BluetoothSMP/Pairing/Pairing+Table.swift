import BluetoothBase

/// The transition table of a pairing, in both roles.
extension Pairing: StateMachine {
    package enum PhaseName: String, CaseIterable, Hashable, Sendable {
        case idle, waiting, requested, consent, awaitingResponse, legacy, publicKeys, numbers, passkey, outOfBand
        case check, encryption, distribution, dead
    }

    package enum EventName: String, CaseIterable, Hashable, Sendable {
        /// This device starts to pair.
        case begun
        /// A PDU for which the phase waits. Its content may be wrong, and it may come too early within the phase.
        case request, response, publicKey, confirm, random, dhKeyCheck, keypress
        /// A PDU of the key distribution.
        case key
        /// A Security Request, received by a central.
        case securityRequest
        /// Pairing Failed.
        case failed
        /// A PDU for which the phase does not wait, or a malformed one.
        case unexpected
        /// The answer to a question of this device.
        case accepted, refused, passkeyEntered
        /// The user has pressed a key while entering the passkey.
        case keyPressed
        /// The controller reports that the link is encrypted, or that it is not.
        case encrypted, encryptionFailed
        case cancelled
        case linkEnded
        /// The Security Manager Timer has expired, or a wait is over. Every call with a time checks the timer first.
        case timePassed
    }

    package static let transitions: [Transition<Pairing>] = [
        begins, featureExchange, legacyPairing, secureConnections, completion, ends,
    ].flatMap { $0 }

    private static let begins: [Transition<Pairing>] = [
        // A central sends a Pairing Request, a peripheral a Security Request. After a failure, the attempt waits.
        Transition(.idle, .begun, .awaitingResponse), Transition(.idle, .begun, .requested),
        Transition(.idle, .begun, .waiting),
        Transition(.waiting, .timePassed, .awaitingResponse), Transition(.waiting, .timePassed, .requested),
        Transition(.idle, .securityRequest, .idle),
        // The central has encrypted the link with an existing key, so the peripheral need not pair.
        Transition(.waiting, .encrypted, .idle), Transition(.requested, .encrypted, .idle),
        // The device answers with Pairing Failed. No pairing exists that the PDU could end.
        Transition(.idle, .unexpected, .idle), Transition(.waiting, .unexpected, .waiting),
    ]

    private static let featureExchange: [Transition<Pairing>] = [
        Transition(.idle, .request, .consent), Transition(.waiting, .request, .consent),
        Transition(.requested, .request, .consent),
        // The request cannot succeed, or comes too soon after a failure.
        Transition(.idle, .request, .idle), Transition(.waiting, .request, .idle),
        Transition(.requested, .request, .idle), Transition(.waiting, .request, .waiting),
        Transition(.consent, .accepted, .legacy), Transition(.consent, .accepted, .publicKeys),
        Transition(.consent, .accepted, .idle), Transition(.consent, .refused, .idle),
        Transition(.awaitingResponse, .response, .legacy), Transition(.awaitingResponse, .response, .publicKeys),
        Transition(.awaitingResponse, .response, .idle),
    ]

    private static let legacyPairing: [Transition<Pairing>] = [
        Transition(.legacy, .passkeyEntered, .legacy), Transition(.legacy, .confirm, .legacy),
        Transition(.legacy, .random, .encryption),
        Transition(.legacy, .passkeyEntered, .idle), Transition(.legacy, .confirm, .idle),
        Transition(.legacy, .random, .idle), Transition(.legacy, .refused, .idle),
    ]

    private static let secureConnections: [Transition<Pairing>] = [
        Transition(.publicKeys, .publicKey, .numbers), Transition(.publicKeys, .publicKey, .passkey),
        Transition(.publicKeys, .publicKey, .outOfBand), Transition(.publicKeys, .publicKey, .idle),
        // Just Works and numeric comparison. The initiator may send its DHKey Check before the responder's user has
        // compared the numbers.
        Transition(.numbers, .confirm, .numbers), Transition(.numbers, .random, .numbers),
        Transition(.numbers, .dhKeyCheck, .numbers), Transition(.numbers, .random, .check),
        Transition(.numbers, .accepted, .check), Transition(.numbers, .accepted, .encryption),
        Transition(.numbers, .confirm, .idle), Transition(.numbers, .random, .idle),
        Transition(.numbers, .dhKeyCheck, .idle), Transition(.numbers, .accepted, .idle),
        Transition(.numbers, .refused, .idle),
        // Passkey entry, in twenty rounds.
        Transition(.passkey, .keypress, .passkey), Transition(.passkey, .keyPressed, .passkey),
        Transition(.passkey, .passkeyEntered, .passkey), Transition(.passkey, .confirm, .passkey),
        Transition(.passkey, .random, .passkey), Transition(.passkey, .random, .check),
        Transition(.passkey, .keypress, .idle), Transition(.passkey, .passkeyEntered, .idle),
        Transition(.passkey, .confirm, .idle), Transition(.passkey, .random, .idle),
        Transition(.passkey, .refused, .idle),
        // The DHKey Check detects a wrong nonce.
        Transition(.outOfBand, .random, .check),
        Transition(.check, .dhKeyCheck, .encryption), Transition(.check, .dhKeyCheck, .idle),
    ]

    private static let completion: [Transition<Pairing>] = [
        // Keys may arrive before the controller's report.
        Transition(.encryption, .key, .encryption), Transition(.encryption, .encrypted, .distribution),
        // No more keys are expected, or one of them is rejected.
        Transition(.encryption, .encrypted, .idle), Transition(.encryption, .key, .idle),
        Transition(.encryption, .encryptionFailed, .idle),
        Transition(.distribution, .key, .distribution), Transition(.distribution, .key, .idle),
        Transition(.distribution, .encryptionFailed, .idle),
    ]

    private static let ends: [Transition<Pairing>] = {
        var rows: [Transition<Pairing>] = []
        for phase in phasesKnownToPeer {
            rows += [
                Transition(phase, .unexpected, .idle), Transition(phase, .failed, .idle),
                Transition(phase, .cancelled, .idle), Transition(phase, .linkEnded, .idle),
                Transition(phase, .timePassed, .dead),
            ]
        }
        rows += [
            Transition(.waiting, .cancelled, .idle), Transition(.waiting, .linkEnded, .idle),
            // Nothing is sent or received until the link ends.
            Transition(.dead, .begun, .dead), Transition(.dead, .linkEnded, .idle),
        ]
        return rows
    }()

    /// The phases of a pairing that the peer can end.
    private static let phasesKnownToPeer: [PhaseName] = [
        .requested, .consent, .awaitingResponse, .legacy, .publicKeys, .numbers, .passkey, .outOfBand, .check,
        .encryption, .distribution,
    ]

    package var phaseName: PhaseName {
        switch state {
        case .idle: .idle
        case .waiting: .waiting
        case .requested: .requested
        case .consent: .consent
        case .awaitingResponse: .awaitingResponse
        case .legacy: .legacy
        case .publicKeys: .publicKeys
        case .numbers: .numbers
        case .passkey: .passkey
        case .outOfBand: .outOfBand
        case .check: .check
        case .encryption: .encryption
        case .distribution: .distribution
        case .dead: .dead
        }
    }
}
