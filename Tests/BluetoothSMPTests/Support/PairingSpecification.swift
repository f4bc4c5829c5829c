import BluetoothBase
import BluetoothSMP

/// The phases of a pairing according to the specification (Core 5.4, Vol 3, Part H), written independently of the table
/// of `Pairing`.
enum PairingSpecification {
    typealias Phase = Pairing.PhaseName
    typealias Event = Pairing.EventName

    /// Whether the peer knows about a pairing in this phase, so that both devices can end it with Pairing Failed.
    private static func isCommon(_ phase: Phase) -> Bool {
        switch phase {
        case .idle, .waiting, .dead: false
        case .requested, .consent, .awaitingResponse, .legacy, .publicKeys, .numbers, .passkey, .outOfBand, .check,
            .encryption, .distribution:
            true
        }
    }

    // MARK: - PDUs

    /// The codes of the PDUs that a device waits for (2.3.5.5, 2.3.5.6, 2.4.6, 3.6.1).
    private static func awaitedCodes(_ phase: Phase, _ role: LinkRole) -> Set<UInt8> {
        switch phase {
        case .idle, .waiting, .requested: role == .peripheral ? [0x01] : []
        case .awaitingResponse: [0x02]
        case .legacy: [0x03, 0x04]
        case .publicKeys: [0x0C]
        // Confirm value, nonces, and the check value of an initiator whose user confirms first.
        case .numbers: [0x03, 0x04, 0x0D]
        case .passkey: [0x03, 0x04, 0x0E]
        case .outOfBand: [0x04]
        case .check: [0x0D]
        case .encryption, .distribution: [0x06, 0x07, 0x08, 0x09, 0x0A]
        case .consent, .dead: []
        }
    }

    /// The event for a well-formed PDU.
    static func event(ofCode code: UInt8, in phase: Phase, _ role: LinkRole) -> Event {
        if code == 0x05 { return .failed }
        // Only a central understands a Security Request, at any time.
        if code == 0x0B { return role == .central ? .securityRequest : .unexpected }
        guard awaitedCodes(phase, role).contains(code) else { return .unexpected }
        switch code {
        case 0x01: return .request
        case 0x02: return .response
        case 0x03: return .confirm
        case 0x04: return .random
        case 0x0C: return .publicKey
        case 0x0D: return .dhKeyCheck
        case 0x0E: return .keypress
        default: return .key
        }
    }

    // MARK: - Phases

    /// The phases that may follow, the same one included if the event may change nothing.
    static func phases(after event: Event, in phase: Phase, _ role: LinkRole) -> Set<Phase> {
        let beginning: Phase = role == .central ? .awaitingResponse : .requested
        switch event {
        // 2.3.6: after a failure an attempt waits.
        case .begun: return phase == .idle ? [beginning, .waiting] : [phase]
        case .linkEnded: return [.idle]
        case .cancelled: return phase == .dead ? [.dead] : [.idle]
        // 3.4: after a timeout nothing more happens on this link.
        case .timePassed: return phase == .waiting ? [beginning] : isCommon(phase) ? [.dead] : [phase]
        case .failed, .unexpected: return isCommon(phase) ? [.idle] : [phase]
        // 2.4.6: a central reports it, or ignores it while pairing.
        case .securityRequest, .keyPressed: return [phase]
        case .accepted, .refused, .passkeyEntered: return phases(afterAnswer: event, in: phase, role)
        case .encrypted:
            if phase == .encryption { return [.distribution, .idle] }
            let hasAskedForSecurity = role == .peripheral && (phase == .requested || phase == .waiting)
            return hasAskedForSecurity ? [.idle] : [phase]
        case .encryptionFailed: return phase == .encryption || phase == .distribution ? [.idle] : [phase]
        case .request: return phase == .waiting ? [.consent, .idle, .waiting] : [.consent, .idle]
        case .response: return [.legacy, .publicKeys, .idle]
        case .publicKey: return [.numbers, .passkey, .outOfBand, .idle]
        case .random: return phases(afterNonceIn: phase)
        case .dhKeyCheck:
            if phase == .check { return [.encryption, .idle] }
            // Only the initiator sends it first (2.3.5.6.5).
            return role == .peripheral ? [.numbers, .idle] : [.idle]
        case .confirm, .keypress, .key: return [phase, .idle]
        }
    }

    private static func phases(afterAnswer event: Event, in phase: Phase, _ role: LinkRole) -> Set<Phase> {
        switch (phase, event) {
        case (.consent, .accepted): [.legacy, .publicKeys, .idle]
        case (.consent, .refused): [.idle]
        // The responder may already have the check value, right or wrong.
        case (.numbers, .accepted):
            role == .central ? [.numbers, .check] : [.numbers, .check, .encryption, .idle]
        case (.legacy, .passkeyEntered), (.passkey, .passkeyEntered): [phase, .idle]
        case (.legacy, .refused), (.passkey, .refused), (.numbers, .refused): [phase, .idle]
        default: [phase]
        }
    }

    private static func phases(afterNonceIn phase: Phase) -> Set<Phase> {
        switch phase {
        case .legacy: [.encryption, .idle]
        // The user compares numbers, unless the model is Just Works.
        case .numbers: [.numbers, .check, .idle]
        // The next of twenty rounds, or the end of the last one.
        case .passkey: [.passkey, .check, .idle]
        // Without confirm values, only the DHKey Check can detect a wrong nonce (2.3.5.6.4).
        case .outOfBand: [.check]
        default: []
        }
    }

    /// The phases that a device enters in this role only.
    static func belongs(_ phase: Phase, to role: LinkRole) -> Bool {
        switch phase {
        case .requested, .consent: role == .peripheral
        case .awaitingResponse: role == .central
        case .idle, .waiting, .legacy, .publicKeys, .numbers, .passkey, .outOfBand, .check, .encryption,
            .distribution, .dead:
            true
        }
    }

    // MARK: - Effects

    /// The rule that the effects of an event violate; nil if they violate none.
    static func mistake(in effects: [PairingEffect], of event: Event, from phase: Phase, to next: Phase) -> String? {
        let sent = effects.compactMap { effect -> SecurityManagerPDU? in
            if case .send(let pdu) = effect { pdu } else { nil }
        }
        let ends = effects.compactMap { effect -> Result<PairingResult, PairingError>? in
            if case .ended(let result) = effect { result } else { nil }
        }

        let wasUnderWay = phase != .idle && phase != .dead, isUnderWay = next != .idle && next != .dead
        let isRefused = phase == .idle && event == .request && next == .idle
        let cannotBegin = phase == .dead && event == .begun
        let endCount = wasUnderWay && !isUnderWay || isRefused || cannotBegin ? 1 : 0
        if ends.count != endCount { return "\(ends.count) ends instead of \(endCount)" }
        if let end = ends.first, effects.last != .ended(end) { return "something follows the end" }
        if case .failure(.local(let reason))? = ends.first, sent != [.pairingFailed(reason)] {
            return "Pairing Failed with the reason is not the only PDU sent"
        }
        if phase == .dead, !sent.isEmpty { return "something is sent after a timeout" }

        let isPairingFailed = sent.map { pdu -> Bool in if case .pairingFailed = pdu { true } else { false } }
        switch event {
        // 3.5.5: Pairing Failed is not answered.
        case .failed, .linkEnded: return sent.isEmpty ? nil : "something is sent"
        case .timePassed: return sent.count == (phase == .waiting ? 1 : 0) ? nil : "\(sent.count) PDUs are sent"
        case .unexpected:
            return isPairingFailed == (phase == .dead ? [] : [true]) ? nil : "the answer is not Pairing Failed"
        // A peer that has received only a Security Request has nothing to cancel.
        case .cancelled:
            return isPairingFailed == (isCommon(phase) && phase != .requested ? [true] : [])
                ? nil : "Pairing Failed is missing, or not needed"
        case .begun, .request, .response, .publicKey, .confirm, .random, .dhKeyCheck, .keypress, .key,
            .securityRequest, .accepted, .refused, .passkeyEntered, .keyPressed, .encrypted, .encryptionFailed:
            return nil
        }
    }
}
